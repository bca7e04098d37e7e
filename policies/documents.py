"""Every IAM policy document of the stacks, and what other tools say of each."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from policies.cross_check import MISPLACED, NOT_JUDGED, TOOLS, UNKNOWN_ACTION, UNREADABLE
from policies.finding import CannotJudgeError
from policies.reading.stack import App, Resource

Kind = Literal["identity", "trust", "resource"]
PROGRAM: Final = Path(__file__).with_name("cross_check.py")
_DOCUMENTS: Final = frozenset(
    {
        ("aws_cloudwatch_log_resource_policy", "policy_document"),
        ("aws_ecr_repository_policy", "policy"),
        ("aws_iam_policy", "policy"),
        ("aws_iam_role", "assume_role_policy"),
        ("aws_iam_role_policy", "policy"),
        ("aws_kms_key", "policy"),
        ("aws_kms_key_policy", "policy"),
        ("aws_s3_bucket_policy", "policy"),
        ("aws_sns_topic", "policy"),
        ("aws_sns_topic_policy", "policy"),
        ("aws_sqs_queue", "policy"),
        ("aws_sqs_queue_policy", "policy"),
        ("aws_vpc_endpoint", "policy"),
        ("aws_vpc_endpoint_policy", "policy"),
    }
)
"""What is a document whatever it looks like. Elsewhere a text is one when it has a Statement."""
_TOKEN: Final = re.compile(r"\$?\$\{[^{}]*\}")
_TYPE: Final = re.compile(r"aws_[a-z0-9_]+")
_PLACE: Final = "us-east-1:111122223333"
_ARNS: Final = {
    "aws_cloudwatch_event_rule": f"arn:aws:events:{_PLACE}:rule/name",
    "aws_cloudwatch_log_group": f"arn:aws:logs:{_PLACE}:log-group:name",
    "aws_dynamodb_table": f"arn:aws:dynamodb:{_PLACE}:table/name",
    "aws_iam_role": "arn:aws:iam::111122223333:role/name",
    "aws_s3_bucket": "arn:aws:s3:::name",
}
"""ARNs that texts append to, or that have no region. Others: all of the service in the account."""
_PARTS: Final = {
    "account_id": "111122223333",
    "aws_caller_identity": "111122223333",
    "region": "us-east-1",
    "partition": "aws",
}
"""In a token -> what stands for it."""
_RISKS: Final = {
    UNREADABLE: "What can't be read before it is deployed may grant anything.",
    NOT_JUDGED: "What no tool could judge may grant anything.",
    UNKNOWN_ACTION: "A misspelt action grants nothing, and where it is denied, denies nothing.",
    MISPLACED: "AWS refuses such a policy when it is deployed.",
    "IAM_PARLIAMENT_": "AWS refuses the policy, or it grants more or less than was meant.",
    "IAM_CLOUDSPLAINING_PRIVILEGE": "Who takes over this role can become an administrator.",
    "IAM_CLOUDSPLAINING_CREDENTIALS": "Who takes over this role gets credentials of others.",
    "IAM_CLOUDSPLAINING_PERMISSIONS": "Who takes over this role can open a service to others.",
    "IAM_CLOUDSPLAINING_DATA": "Who takes over this role can read secrets or data of all.",
    "": "The policy may grant more than was meant.",
}
"""Start of an id -> what happens otherwise. The first that fits."""
_SOURCES: Final = {
    UNKNOWN_ACTION: "https://docs.aws.amazon.com/service-authorization/latest/reference/"
    "reference_policies_actions-resources-contextkeys.html",
    "IAM_PARLIAMENT_": "https://github.com/duo-labs/parliament",
    "IAM_CLOUDSPLAINING_": "https://github.com/salesforce/cloudsplaining/tree/master/docs/glossary",
    "": "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html",
}


class NoCrossCheckError(CannotJudgeError):
    """Not every policy document was judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A policy document, as it stands in a stack: perhaps no JSON, and with tokens inside."""

    kind: Kind
    resource: Resource
    attribute: str
    """Dotted within blocks."""
    text: str

    @property
    def filled(self) -> str:
        """Tokens replaced by what might stand there once it is deployed.

        An ARN is one of the resource that is meant, also through another stack's outputs; an
        account is 111122223333, a region us-east-1, a partition aws, all else `name`. `$${` begins
        a variable of IAM's own.
        """
        return _TOKEN.sub(lambda token: _literal(token[0], self.resource), self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Remark:
    """What a tool says of a document."""

    id: str
    """Such as IAM_PARLIAMENT_RESOURCE_STAR."""
    title: str
    document: Document
    statement: int | None
    """From 0; None: the document as a whole."""
    said: str

    @property
    def message(self) -> str:
        """Where in the resource, and what."""
        place = "" if self.statement is None else f", statement {self.statement + 1}"
        text = f": {self.document.text[:60]!r}" if self.id == UNREADABLE else ""
        return f"{self.document.attribute}{place}: {self.said}{text}"

    @property
    def risk(self) -> str:
        return next(risk for start, risk in _RISKS.items() if self.id.startswith(start))

    @property
    def source(self) -> str:
        return next(source for start, source in _SOURCES.items() if self.id.startswith(start))


def collect(app: App) -> tuple[Document, ...]:
    """Of every stack; the unreadable too, for the cross-check to tell."""
    return tuple(
        Document(_kind(resource, attribute), resource, attribute, text)
        for resource in app.resources()
        for attribute, text in _texts(resource.conf, "")
        if (resource.type, attribute) in _DOCUMENTS or _is_document(text)
    )


def cross_check(
    python: Path, asked: Sequence[Document], timeout: float = 120
) -> tuple[Remark, ...]:
    """What the tools of the policy environment say. `python`: its interpreter.

    They run without a home, so that no database of a person's own changes what they know.

    Raises NoCrossCheckError.
    """
    lines = [json.dumps({"kind": document.kind, "text": document.filled}) for document in asked]
    tools, *answers = _objects(_run(python, "\n".join(lines), timeout))
    _demand_tools(tools)
    if len(answers) != len(asked):
        raise NoCrossCheckError(
            f"the cross-check judged {len(answers)} of {len(asked)} policy documents; "
            f"run {PROGRAM.name} by hand to see where it ends"
        )
    try:
        return tuple(
            Remark(said["id"], said["title"], document, said["statement"], said["message"])
            for document, answer in zip(asked, answers, strict=True)
            for said in answer["remarks"]
        )
    except (KeyError, TypeError) as error:
        raise NoCrossCheckError(
            f"the cross-check's answer has another form than asked ({error!r}); "
            "is policies/ of one version?"
        ) from None


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Each text within, by its dotted path; also what isn't a text where a document must be."""
    if isinstance(value, Mapping) and path not in {attribute for _, attribute in _DOCUMENTS}:
        for name, inner in value.items():
            if name != "//":
                yield from _texts(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path)
    elif value is not None:
        yield path, str(value)


def _is_document(text: str) -> bool:
    if "Statement" not in text:
        return False
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and "Statement" in found


def _kind(resource: Resource, attribute: str) -> Kind:
    if attribute == "assume_role_policy":
        return "trust"
    return "identity" if resource.type.startswith(("aws_iam_", "aws_ssoadmin_")) else "resource"


def _literal(token: str, resource: Resource) -> str:
    if token.startswith("$$"):
        return token[1:]
    if token.endswith("arn}"):
        target = resource.app.target(token, resource.stack)
        named = _TYPE.search(token)
        return _arn(target.type if target else named[0] if named else "aws_any")
    for part, literal in _PARTS.items():
        if part in token:
            return literal
    return "name"


def _arn(type_: str) -> str:
    return _ARNS.get(type_, f"arn:aws:{type_.split('_')[1]}:{_PLACE}:*")


def _run(python: Path, asked: str, timeout: float) -> str:
    with tempfile.TemporaryDirectory() as home:
        try:
            ended = subprocess.run(
                [str(python.absolute()), "-I", str(PROGRAM)],
                input=asked,
                cwd=home,
                env={"PATH": os.environ.get("PATH", ""), "HOME": home},
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except OSError as error:
            raise NoCrossCheckError(
                f"{python}: the cross-check can't be started ({error.strerror}); run `make setup`"
            ) from None
        except subprocess.TimeoutExpired:
            raise NoCrossCheckError(f"the cross-check gave no answer in {timeout:g} s") from None
    if ended.returncode != 0:
        said = ended.stderr.strip().rpartition("\n")[2]
        raise NoCrossCheckError(
            f"the cross-check ended with {ended.returncode} ({said}); "
            "run `make setup`, then try again"
        )
    return ended.stdout


def _objects(printed: str) -> list[dict[str, Any]]:
    """One a line; at least one."""
    try:
        found = [json.loads(line) for line in printed.splitlines()]
    except ValueError:
        raise NoCrossCheckError(f"the cross-check printed no JSON: {printed[:200]!r}") from None
    if not found or not all(isinstance(each, dict) for each in found):
        raise NoCrossCheckError(f"the cross-check printed no JSON objects: {printed[:200]!r}")
    return found


def _demand_tools(answer: Mapping[str, Any]) -> None:
    found = answer.get("tools")
    if not isinstance(found, Mapping):
        raise NoCrossCheckError(f"the cross-check names no tools: {answer!r}")
    wrong = [
        f"{tool} is {found.get(tool) or 'missing'}, must be {wanted}"
        for tool, wanted in TOOLS.items()
        if found.get(tool) != wanted
    ]
    if wrong:
        raise NoCrossCheckError(f"{'; '.join(wrong)}; run `make setup`")
