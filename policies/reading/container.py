"""The container of a job definition, which AWS Batch takes as JSON in one attribute."""

from collections.abc import Mapping
from typing import Any

from policies.reading.stack import CannotTellError, Resource, parsed


def container(definition: Resource) -> Mapping[str, Any]:
    """Raises CannotTellError where there is none, as for a job of several nodes."""
    text = definition.conf.get("container_properties")
    if text is None:
        raise CannotTellError(
            "container_properties is not set; a job of another kind can't be read"
        )
    return _mapping(parsed(text, "container_properties"), "container_properties")


def entry(of: Mapping[str, Any], name: str) -> Any:
    """What stands under `name`, None where nothing does. Terraform reads names without case."""
    found = [value for key, value in of.items() if key.lower() == name.lower()]
    return found[-1] if found else None


def section(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under `name`, empty where there is none. Raises CannotTellError for others."""
    value = entry(of, name)
    return {} if value is None else _mapping(value, name)


def _mapping(value: object, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CannotTellError(f"{what} is {value!r}, not an object")
    return value
