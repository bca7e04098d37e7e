"""Whether a resource's policy denies a sample request, whoever makes it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

from policies.reading.companion import is_meant, own_name
from policies.reading.stack import CannotTellError, Resource, Stack
from policies.reading.statement import Statement

Context = Mapping[str, str | None]
"""Condition key -> what the request says; None: it says nothing. A condition on any other key
narrows a statement, so that it doesn't count."""
_TOKEN: Final = re.compile(r"\$\{[^}]+\}")


@dataclass(frozen=True, slots=True)
class Request:
    """Anybody's. `below` is what the policy must reach under the resource: `/*`, all objects."""

    action: str
    context: Context
    below: str = ""


def is_denied(
    request: Request, of: Resource, policies: Iterable[tuple[Stack, Iterable[Statement]]]
) -> bool:
    """By a statement of the policies on `of`, each with the stack that it stands in.

    Raises CannotTellError where that depends on a resource that can't be followed.
    """
    return any(
        _denies(statement, request) and _reaches(statement, of, request.below, stack)
        for stack, statements in policies
        for statement in statements
    )


def _denies(statement: Statement, request: Request) -> bool:
    return (
        not statement.allows
        and not statement.inverted
        and is_everybody(statement.principal)
        and statement.covers(request.action)
        and holds(statement, request.context)
    )


def is_everybody(principal: Any) -> bool:
    if isinstance(principal, Mapping):
        principal = principal.get("AWS")
    return "*" in principal if isinstance(principal, list) else principal == "*"


def _reaches(statement: Statement, of: Resource, below: str, stack: Stack) -> bool:
    name = str(own_name(of) or of.address)
    wanted = name + below
    patterns = [
        _TOKEN.sub(lambda token: name if is_meant(of, token[0], stack) else token[0], pattern)
        for pattern in statement.resources
    ]
    # Without what stands before the name: a policy of a bucket or queue is about no other kind.
    patterns = [pattern.rpartition(":")[2] for pattern in patterns]
    if any(wanted == pattern or fnmatchcase(wanted, pattern) for pattern in patterns):
        return True
    if any("${" in pattern for pattern in patterns):
        raise CannotTellError(f"a statement is about {', '.join(statement.resources)}")
    return False


def holds(statement: Statement, context: Context) -> bool:
    """Whether all conditions are met, as far as the request says."""
    known = {key.lower(): value for key, value in context.items()}
    return all(
        key.lower() in known and _met(test, known[key.lower()], statement.condition(test, key))
        for test, key in condition_keys(statement)
    )


def condition_keys(statement: Statement) -> Iterator[tuple[str, str]]:
    """(test, key) of each condition. Raises CannotTellError where they are no conditions."""
    conditions: object = statement.conditions
    if not isinstance(conditions, Mapping):
        raise CannotTellError(f"a statement has conditions that can't be read: {conditions!r}")
    for test, keys in conditions.items():
        if not isinstance(keys, Mapping):
            raise CannotTellError(f"a statement has a condition that can't be read: {keys!r}")
        for key in keys:
            yield test, key


def _met(test: str, said: str | None, values: tuple[str, ...]) -> bool:
    name, if_exists, _ = test.lower().partition("ifexists")
    if name == "null":
        return (said is None) == ("true" in [v.lower() for v in values])
    if name not in _TESTS:
        return False
    if said is None:
        return bool(if_exists) or name in _NEGATED
    return any(_TESTS[name](said, v) for v in values) != (name in _NEGATED)


def _less(said: str, limit: str) -> bool:
    try:
        return float(said) < float(limit)
    except ValueError:
        raise CannotTellError(f"a statement compares {said} with {limit}") from None


def _equal(said: str, value: str) -> bool:
    return said == value


def _equal_without_case(said: str, value: str) -> bool:
    return said.lower() == value.lower()


_TESTS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "bool": _equal_without_case,
    "numericlessthan": _less,
    "stringequals": _equal,
    "stringequalsignorecase": _equal_without_case,
    "stringlike": fnmatchcase,
    "stringnotequals": _equal,
    "stringnotequalsignorecase": _equal_without_case,
    "stringnotlike": fnmatchcase,
}
_NEGATED: Final = ("stringnotequals", "stringnotequalsignorecase", "stringnotlike")
"""Met when nothing of the values is what the request says, also when it says nothing."""
