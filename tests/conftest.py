"""Fixtures that every room's tests may ask for."""

import pytest

pytest_plugins = ["tests.fixtures.s3"]


@pytest.fixture
def anyio_backend() -> str:
    """Production's event loop; the simulations take trio's virtual clock themselves."""
    return "asyncio"
