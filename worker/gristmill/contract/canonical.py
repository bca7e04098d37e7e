"""Canonical JSON: one value, one spelling, so that a digest means equality."""

import hashlib
import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gristmill.contract.errors import StorageError

M = TypeVar("M", bound=BaseModel)


def canonical_json(value: BaseModel | dict[str, Any] | list[Any]) -> bytes:
    """Sorted keys, no blanks, UTF-8, no NaN.

    Raises ValueError for NaN and infinities, which JSON does not have.
    """
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()


def decode(model: type[M], body: bytes, where: str) -> M:
    """A published document. `where` is its URI.

    Raises StorageError for what this version of gristmill did not write.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise StorageError(
            f"{where}: is no {model.__name__} of this version of gristmill ({field}: "
            f"{first['msg']}); it was damaged, or written by another version"
        ) from None


def digest(value: BaseModel | dict[str, Any] | list[Any]) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return sha256(canonical_json(value))


def sha256(body: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(body).hexdigest()
