"""What parliament, cloudsplaining and policy_sentry say of policy documents.

    python -I policies/cross_check.py <documents >remarks

Runs in the policy environment, where those three are; of the project it imports nothing. Reads one
JSON object a line, `{"kind": "identity", "text": "..."}`; writes `{"tools": {name: version}}` and
then, for each document in turn, `{"remarks": [{"id", "title", "statement", "message"}]}`, also
where there are none. No connection is opened, and nothing is written to a home.

What is believed, and what isn't:

- An action is unknown (IAM_UNKNOWN_ACTION) where neither parliament nor policy_sentry has it: each
  of their lists lacks some that AWS has. parliament judges a statement without the actions that it
  doesn't know itself.
- parliament's MISMATCHED_TYPE and MISMATCHED_TYPE_BUT_USABLE are left out. It takes 1.2 for no
  number, and no key may be compared but by operators of its documented type, though AWS's own
  examples compare kms:EncryptionContext: and iam:PermissionsBoundary otherwise.
- Its RESOURCE_STAR and RESOURCE_EFFECTIVELY_STAR are told of identity policies only: in the policy
  of a key, `*` is that key.
- Its RESOURCE_MISMATCH and UNKNOWN_CONDITION_FOR_ACTION are told where they hold for all that a
  pattern stands for: `sqs:*` on a queue is no mistake, though sqs:ListQueues is about none.
- Its UNKNOWN_CONDITION_FOR_ACTION passes over an identity provider's own keys, and its
  UNKNOWN_FEDERATION_SOURCE over OpenID providers: it knows neither.
- It knows no trust policies: they get `"Resource": "*"` before it reads them. Which elements each
  kind must and mustn't have is judged here (IAM_MISPLACED_ELEMENT).
- Of cloudsplaining, escalation, exposed credentials, permissions management and reading of data,
  each without limits. A statement with any condition is limited to cloudsplaining.
- Where a tool breaks over a document, that is a remark too (IAM_NOT_JUDGED).
"""

import contextlib
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

TOOLS: Final = {"cloudsplaining": "0.7.0", "parliament": "1.6.4", "policy-sentry": "0.13.2"}
"""As in requirements/policy.lock."""
UNREADABLE: Final = "IAM_UNREADABLE"
MISPLACED: Final = "IAM_MISPLACED_ELEMENT"
UNKNOWN_ACTION: Final = "IAM_UNKNOWN_ACTION"
NOT_JUDGED: Final = "IAM_NOT_JUDGED"
MALFORMED: Final = "IAM_PARLIAMENT_MALFORMED"
_TITLES: Final = {
    UNREADABLE: "A policy is JSON with statements",
    MISPLACED: "A policy has the elements of its kind",
    UNKNOWN_ACTION: "AWS has each action",
    NOT_JUDGED: "Each policy is judged",
}
_NOT_BELIEVED: Final = ("MISMATCHED_TYPE", "MISMATCHED_TYPE_BUT_USABLE")
_OF_IDENTITY_ONLY: Final = ("RESOURCE_STAR", "RESOURCE_EFFECTIVELY_STAR")
_NEWER_KEYS: Final = {
    "aws:AssumedRoot": "Bool",
    "aws:ChatbotSourceArn": "Arn",
    "aws:Ec2InstanceSourcePrivateIPv4": "Ip",
    "aws:Ec2InstanceSourceVpc": "String",
    "aws:SourceOrgID": "String",
    "aws:SourceOrgPaths": "String",
    "aws:SourceVpcArn": "Arn",
    "aws:ViaAWSService": "Bool",
    "aws:VpceAccount": "String",
    "aws:VpceOrgID": "String",
    "aws:VpceOrgPaths": "String",
}
"""Global condition keys that parliament lacks."""
_KEY_OF_ACTION: Final = re.compile(r"Unknown condition (.*) for action (.*)")
_RISKS: Final = {
    "PRIVILEGE_ESCALATION": ("allows_privilege_escalation", "Nobody can gain more permissions"),
    "CREDENTIALS_EXPOSURE": ("credentials_exposure", "Credentials are given out within limits"),
    "PERMISSIONS_MANAGEMENT": (
        "permissions_management_without_constraints",
        "Permissions are changed within limits",
    ),
    "DATA_EXFILTRATION": ("allows_data_exfiltration_actions", "Data is read within limits"),
}
"""Ends of our ids -> cloudsplaining's property of what is against it, and the title."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """A remark on one document."""

    id: str
    title: str
    statement: int | None
    """From 0; None: the document as a whole."""
    message: str


def main() -> int:
    sys.addaudithook(_stay_offline)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # cloudsplaining prints as it goes
        found = {tool: _version(tool) for tool in TOOLS}
        print(json.dumps({"tools": found}), file=answers, flush=True)
        if found == TOOLS:
            for line in sys.stdin:
                asked = json.loads(line)
                said = remarks(asked["kind"], asked["text"])
                print(json.dumps({"remarks": [asdict(s) for s in said]}), file=answers)
    return 0


def remarks(kind: str, text: str) -> list[Said]:
    """One for each id and statement. `kind`: identity, trust or resource."""
    try:
        document, statements = _read(text)
    except ValueError as error:
        return [_own(UNREADABLE, None, str(error))]
    said = [
        *_misplaced(kind, statements),
        *_unless_it_breaks("policy_sentry", lambda: _unknown_actions(statements)),
        *_unless_it_breaks("parliament", lambda: _parliament(kind, document, statements)),
    ]
    if kind == "identity" and all(s.id != MALFORMED for s in said):
        said += _unless_it_breaks("cloudsplaining", lambda: _cloudsplaining(document))
    return _joined(said)


def _joined(said: list[Said]) -> list[Said]:
    alike: dict[Said, list[str]] = {}
    for each in said:
        alike.setdefault(replace(each, message=""), []).append(each.message)
    return [
        replace(first, message=_in_words(list(dict.fromkeys(messages)), "; "))
        for first, messages in alike.items()
    ]


def _own(id_: str, index: int | None, message: str) -> Said:
    return Said(id_, _TITLES[id_], index, message)


def _stay_offline(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise PermissionError(f"a cross-check opens no connection: {arguments!r}")


def _version(tool: str) -> str | None:
    try:
        return version(tool)
    except PackageNotFoundError:
        return None


def _read(text: str) -> tuple[Json, list[Json]]:
    """Raises ValueError with what is wrong."""
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError:
        raise ValueError("is not JSON") from None
    if not isinstance(document, dict) or "Statement" not in document:
        raise ValueError("has no Statement")
    statements = _listed(document["Statement"])
    if not all(isinstance(statement, dict) for statement in statements):
        raise ValueError("has a statement that is no object")
    return document, statements


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """Raises ValueError for a key that is given twice: readers differ on which one holds."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"gives {name} twice")
    return dict(pairs)


def _misplaced(kind: str, statements: list[Json]) -> Iterator[Said]:
    for index, statement in enumerate(statements):
        has_principal = "Principal" in statement or "NotPrincipal" in statement
        if kind == "identity" and has_principal:
            yield _own(MISPLACED, index, "has a principal, which what is attached to a role can't")
        if kind != "identity" and not has_principal:
            yield _own(MISPLACED, index, "names no principal")
        if kind == "trust" and ("Resource" in statement or "NotResource" in statement):
            yield _own(MISPLACED, index, "names resources, which a trust policy can't")


def _unless_it_breaks(tool: str, judge: Callable[[], Iterable[Said]]) -> list[Said]:
    try:
        return list(judge())
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - a document of any shape may come
        return [_own(NOT_JUDGED, None, f"{tool} broke over it: {type(error).__name__}: {error}")]


def _unknown_actions(statements: list[Json]) -> Iterator[Said]:
    for index, statement in enumerate(statements):
        for action in _actions(statement):
            if not (_in_parliament(action) or _in_policy_sentry(action)):
                yield _own(UNKNOWN_ACTION, index, f"{action} is none")


def _in_policy_sentry(action: str) -> bool:
    from policy_sentry.querying.actions import (  # type: ignore[import-not-found, unused-ignore]
        get_actions_for_service,
    )

    known = get_actions_for_service(action.lower().partition(":")[0], lowercase=True)
    return any(fnmatchcase(name, action.lower()) for name in known)


def _in_parliament(action: str) -> bool:
    return action in ("*", "*:*") or bool(_expanded(action))


def _expanded(action: str) -> set[str]:
    """All that a pattern stands for, of the actions that parliament knows."""
    import parliament

    if action.count(":") != 1:
        return set()
    found = parliament.expand_action(action, raise_exceptions=False)
    return {f"{each['service']}:{each['action']}" for each in found}


def _parliament(kind: str, document: Json, statements: list[Json]) -> Iterator[Said]:
    import parliament
    from parliament.statement import GLOBAL_CONDITION_KEYS

    GLOBAL_CONDITION_KEYS.update(_NEWER_KEYS)
    handed = [
        (index, form)
        for index, statement in enumerate(statements)
        if (form := _for_parliament(kind, statement)) is not None
    ]
    policy = parliament.analyze_policy_string(
        json.dumps({**document, "Statement": [form for _, form in handed]}),
        ignore_private_auditors=True,
    )
    for finding in policy._findings:
        yield _said(finding.issue, None, finding.detail)
    # strict=False: of a document with an element that it doesn't know it reads no statement.
    for (index, form), judged in zip(handed, policy.statements, strict=False):
        yield from _believed(kind, index, form, judged.findings)


def _for_parliament(kind: str, statement: Json) -> Json | None:
    """The statement in a form that it can judge; None where it knows none of the actions."""
    form = dict(statement)
    for element in ("Action", "NotAction"):
        if element in form:
            form[element] = [a for a in _listed(form[element]) if _in_parliament(str(a))]
            if not form[element]:
                return None
    if isinstance(form.get("Condition"), dict):
        form["Condition"] = {test: _scalars(keys) for test, keys in form["Condition"].items()}
    if kind == "trust":
        form["Resource"] = "*"
    if kind == "resource" and "Sid" in form:  # there AWS takes spaces, parliament doesn't
        form["Sid"] = re.sub(r"[^0-9A-Za-z]", "", str(form["Sid"]))
    return form


def _scalars(keys: Any) -> Any:
    """It breaks over a list of one true or false."""
    if not isinstance(keys, dict):
        return keys
    return {
        key: value[0] if isinstance(value, list) and len(value) == 1 else value
        for key, value in keys.items()
    }


def _believed(kind: str, index: int, form: Json, findings: list[Any]) -> Iterator[Said]:
    patterns = _actions(form) if "Action" in form else []
    unknown_keys: dict[str, set[str]] = {}
    for finding in findings:
        issue, detail = finding.issue, finding.detail
        if issue == "UNKNOWN_CONDITION_FOR_ACTION":
            key, action = _KEY_OF_ACTION.fullmatch(detail).groups()  # type: ignore[union-attr]
            unknown_keys.setdefault(key, set()).add(action)
        elif issue == "RESOURCE_MISMATCH":
            wanted = {each["action"]: each["required_format"] for each in detail}
            for pattern in _wholly(patterns, wanted):
                needed = sorted({wanted[action] for action in _expanded(pattern)})
                yield _said(issue, index, f"{pattern} needs {_in_words(needed)}")
        elif not _passed_over(kind, issue, detail):
            yield _said(issue, index, detail)
    for key, told in unknown_keys.items():
        if not (kind == "trust" and "." in key.partition(":")[0]):
            for pattern in _wholly(patterns, told):
                yield _said("UNKNOWN_CONDITION_FOR_ACTION", index, f"{pattern} has no {key}")


def _passed_over(kind: str, issue: str, detail: object) -> bool:
    return (
        issue in _NOT_BELIEVED
        or (issue in _OF_IDENTITY_ONLY and kind != "identity")
        or (issue == "UNKNOWN_FEDERATION_SOURCE" and ":oidc-provider/" in str(detail))
    )


def _wholly(patterns: list[str], told: Collection[str]) -> list[str]:
    """The patterns all of whose actions are told."""
    return [p for p in patterns if (stands_for := _expanded(p)) and stands_for.issubset(told)]


def _said(issue: str, index: int | None, detail: object) -> Said:
    import parliament

    title = parliament.config[issue]["title"].strip().rstrip(".")
    words = _in_words(detail) if isinstance(detail, list) else str(detail or title)
    message = words.removeprefix(title).strip() or title
    return Said(f"IAM_PARLIAMENT_{issue}", title, index, message)


def _cloudsplaining(document: Json) -> Iterator[Said]:
    from cloudsplaining.scan.policy_document import PolicyDocument

    policy = PolicyDocument(dict(document))
    for risk, (against, title) in _RISKS.items():
        ways = [
            way if isinstance(way, str) else f"{way['type']} ({' + '.join(way['actions'])})"
            for way in getattr(policy, against)
        ]
        if ways:
            message = f"allows without a limit {_in_words(sorted(ways))}"
            yield Said(f"IAM_CLOUDSPLAINING_{risk}", title, None, message)


def _actions(statement: Json) -> list[str]:
    found = statement.get("Action", statement.get("NotAction", []))
    return [str(action) for action in _listed(found)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _in_words(values: list[str], between: str = ", ") -> str:
    more = f" and {len(values) - 6} more" if len(values) > 6 else ""
    return between.join(str(value) for value in values[:6]) + more


if __name__ == "__main__":
    sys.exit(main())
