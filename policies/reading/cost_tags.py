"""The tags by which a bill is split."""

from collections.abc import Iterable, Mapping
from typing import Final

from policies.reading.stack import CannotTellError, literal

REQUIRED: Final = ("gristmill:platform", "gristmill:blueprint", "gristmill:team")


def missing(tags: object, required: Iterable[str] = REQUIRED) -> list[str]:
    """Those that `tags` lacks or leaves empty. Raises CannotTellError where it can't be seen."""
    present = {} if tags is None else literal(tags, "tags")
    if not isinstance(present, Mapping):
        raise CannotTellError(f"tags are {tags!r}, not names with values")
    return [name for name in required if not str(literal(present.get(name) or "", name)).strip()]
