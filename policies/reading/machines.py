"""Compute environments that AWS Batch starts machines for."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.reading.stack import CannotTellError, Resource, literal

MACHINES: Final = ("EC2", "SPOT")
SERVERLESS: Final = ("FARGATE", "FARGATE_SPOT")


def machines(environment: Resource) -> Iterator[Mapping[str, Any]]:
    """Its compute_resources, where they are of type EC2 or SPOT.

    Raises CannotTellError where the type can't be seen.
    """
    for capacity in environment.blocks("compute_resources"):
        if kind(capacity) in MACHINES:
            yield capacity


def kind(capacity: Mapping[str, Any]) -> str:
    """Raises CannotTellError where it is none that is known."""
    type_ = word(capacity, "type")
    if type_ not in (*MACHINES, *SERVERLESS):
        raise CannotTellError(f"compute_resources.type is {capacity.get('type')!r}")
    return type_


def word(capacity: Mapping[str, Any], name: str) -> str:
    """An attribute of compute_resources in capitals, as Terraform sends it; empty: not set."""
    return str(literal(capacity.get(name) or "", f"compute_resources.{name}")).upper()
