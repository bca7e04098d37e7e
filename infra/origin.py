"""Where in infra/ each construct was made, for those who must mend what it became."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

HERE: Final = Path(__file__).parent
COMPOSITION: Final = HERE / "main.py"


@contextmanager
def traced() -> Iterator[dict[str, list[str]]]:
    """Constructs made inside: their path in the tree -> `infra/file.py:line`, the innermost first.

    The bindings make every construct by `jsii.create`, which is watched here.
    """
    import jsii

    origins: dict[str, list[str]] = {}
    create = jsii.create

    def watched(kind: type, instance: Any, *arguments: Any) -> Any:
        made = create(kind, instance, *arguments)
        path = getattr(getattr(instance, "node", None), "path", "")
        if path:
            origins[path] = list(_ours(sys._getframe(1)))
        return made

    setattr(jsii, "create", watched)  # noqa: B010 - its type says less
    try:
        yield origins
    finally:
        jsii.create = create


def _ours(frame: FrameType | None) -> Iterator[str]:
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if HERE in file.parents and file != COMPOSITION:
            yield f"{file.relative_to(HERE.parent)}:{frame.f_lineno}"
        frame = frame.f_back
