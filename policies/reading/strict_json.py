"""JSON in which nothing hides: a key that is given twice is refused."""

import json
from typing import Any


def loads(text: str) -> Any:
    """Raises ValueError. Terraform makes two blocks of a key that is given twice; Python would
    keep the last."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{', '.join(twice)} is given twice")
    return found
