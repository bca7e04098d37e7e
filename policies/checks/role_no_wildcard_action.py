"""What a role may do is named action by action."""

import re
from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.roles import is_wild
from policies.reading.stack import Resource, literal
from policies.reading.statement import GRANTS, granted

READING: Final = re.compile(r"[a-z0-9-]+:(get|list|describe)[a-z]*\*", re.IGNORECASE)


class NamedActions(Check):
    title = "A role may do named actions only; prefixes are for reading"
    risk = (
        "An action that AWS adds next year, or one that deletes, is allowed without anybody's will."
    )
    remedy = "Name each action in the Statement in infra/; Get*, List* and Describe* may stay."
    source = (
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_action.html"
    )
    resources = GRANTS

    def faults(self, resource: Resource) -> Iterator[str]:
        for statement in granted(resource):
            if statement.inverted:
                yield "a statement allows all but what it names (NotAction, NotResource)"
                continue
            for action in statement.actions:
                literal(action, "Action")
                if is_wild(action) and not READING.fullmatch(action):
                    yield f"Action {action} is allowed, must name actions"
