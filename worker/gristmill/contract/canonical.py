"""Canonical JSON: one value, one spelling, so that a digest means equality."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def canonical_json(value: BaseModel | dict[str, Any] | list[Any]) -> bytes:
    """Sorted keys, no blanks, UTF-8, no NaN.

    Raises ValueError for NaN and infinities, which JSON does not have.
    """
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def digest(value: BaseModel | dict[str, Any] | list[Any]) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return sha256(canonical_json(value))


def sha256(body: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(body).hexdigest()
