"""A view for tests that look at the report alone."""

from gristmill.client.progress import Progress


class SilentView:
    def draw(self, progress: Progress, at: float) -> None:
        pass
