"""RunSpec: the resolved, immutable, digested input of one run."""

from typing import Any, Final, Self

from pydantic import BaseModel, ConfigDict

from gristmill.contract.blueprint import Blueprint, Budget, Capacity, Errors
from gristmill.contract.canonical import digest

POLICY: Final = (
    *("team", "owner", "data_class", "errors", "capacity", "deadline", "budget", "schedule"),
)
"""Sections of a blueprint that decide how a run is carried out, not what it yields. They may
change between attempts; everything else is part of the run's identity."""


class RunSpec(BaseModel):
    """Written once as run.json. Whatever decides a byte of the results is in its digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    run: str
    blueprint: Blueprint
    """With absolute URIs."""
    model_revision: str
    """Digest of the model's files, or the hub's commit."""
    image: str | None = None
    """Digest of the worker's container image; None outside a container."""
    listing: str
    """Digest over key, size and etag of every input object."""
    limit: int | None = None
    """Only the first so many records: for a trial."""
    gristmill: str
    """Version that planned the run."""

    def identity(self) -> str:
        """SHA-256 over everything that decides the results, and nothing else."""
        return digest(self._decisive())

    def differences(self, other: Self) -> list[str]:
        """Sentences saying what decides the results and differs: `path: mine, theirs`."""
        mine, theirs = _flat(self._decisive()), _flat(other._decisive())
        return [
            f"{path.removeprefix('blueprint.')}: the run has {mine.get(path)!r}, "
            f"you gave {theirs.get(path)!r}"
            for path in sorted(mine.keys() | theirs.keys())
            if mine.get(path) != theirs.get(path)
        ]

    def _decisive(self) -> dict[str, Any]:
        return self.model_dump(
            mode="json", exclude={"run": True, "blueprint": set(POLICY), "gristmill": True}
        )


class Policy(BaseModel):
    """The part of a blueprint that a worker heeds and that may change between attempts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    errors: Errors = Errors()
    capacity: Capacity = Capacity()
    budget: Budget | None = None
    deadline: float | None = None

    @classmethod
    def of(cls, blueprint: Blueprint) -> Self:
        return cls(
            errors=blueprint.errors,
            capacity=blueprint.capacity,
            budget=blueprint.budget,
            deadline=blueprint.deadline,
        )


def _flat(value: object, path: str = "") -> dict[str, object]:
    if not isinstance(value, dict):
        return {path: value}
    flat: dict[str, object] = {}
    for key, inner in value.items():
        flat |= _flat(inner, f"{path}.{key}" if path else key)
    return flat
