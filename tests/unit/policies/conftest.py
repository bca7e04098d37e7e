from tests.fixtures.stacks import full_platform, shipped, subject

__all__ = ["full_platform", "shipped", "subject"]
