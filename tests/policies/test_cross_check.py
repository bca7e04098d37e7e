"""parliament, cloudsplaining and policy_sentry over policy documents, with their own data."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from policies.documents import collect, cross_check
from policies.reading.stack import App
from policies.reading.unlimited_actions import UNLIMITED
from policies.synth import Subject
from tests.unit.policies.case import Tree

Asked = tuple[str, str]
"""Kind and text of a document."""
OBJECTS = "arn:aws:s3:::corpus/*"
QUEUE = "arn:aws:sqs:us-east-1:111122223333:work"
ISSUER = "token.actions.githubusercontent.com"
PROVIDER = f"arn:aws:iam::111122223333:oidc-provider/{ISSUER}"
PLACES = {
    "identity": ("aws_iam_role_policy", "policy"),
    "trust": ("aws_iam_role", "assume_role_policy"),
    "resource": ("aws_sqs_queue", "policy"),
}


def allow(*actions: str, on: str = "*", **more: Any) -> Asked:
    return document("identity", Action=actions, Resource=on, **more)


def trust(**more: Any) -> Asked:
    return document("trust", **{"Action": "sts:AssumeRole", **more})


def document(kind: str, **statement: Any) -> Asked:
    given = {"Effect": "Allow", **statement}
    present = {element: value for element, value in given.items() if value is not None}
    return kind, json.dumps({"Version": "2012-10-17", "Statement": [present]})


FAULTS = [
    (allow("iam:PassRole", "ec2:RunInstances"), "IAM_CLOUDSPLAINING_PRIVILEGE_ESCALATION"),
    (allow("iam:PutRolePolicy", "sts:AssumeRole"), "IAM_CLOUDSPLAINING_PRIVILEGE_ESCALATION"),
    (allow("iam:PutRolePolicy"), "IAM_CLOUDSPLAINING_PERMISSIONS_MANAGEMENT"),
    (allow("iam:CreateAccessKey"), "IAM_CLOUDSPLAINING_CREDENTIALS_EXPOSURE"),
    (allow("secretsmanager:GetSecretValue"), "IAM_CLOUDSPLAINING_DATA_EXFILTRATION"),
    (allow("s3:GetObjects", on=OBJECTS), "IAM_UNKNOWN_ACTION"),
    (allow("s4:GetObject", on=OBJECTS), "IAM_UNKNOWN_ACTION"),
    (allow("s3:Fetch*", on=OBJECTS), "IAM_UNKNOWN_ACTION"),
    (allow("GetObject", on=OBJECTS), "IAM_UNKNOWN_ACTION"),
    (document("identity", Action="s3:GetObject"), "IAM_PARLIAMENT_MALFORMED"),
    (allow("s3:GetObject", on=OBJECTS, Effect=None), "IAM_PARLIAMENT_MALFORMED"),
    (allow("s3:GetObject", on=OBJECTS, Resources="*"), "IAM_PARLIAMENT_MALFORMED"),
    (allow("s3:GetObject", on="corpus/*"), "IAM_PARLIAMENT_INVALID_ARN"),
    (allow("s3:GetObject", on="arn:aws:s3:::corpus"), "IAM_PARLIAMENT_RESOURCE_MISMATCH"),
    (allow("sqs:SendMessage"), "IAM_PARLIAMENT_RESOURCE_STAR"),
    (
        allow("s3:PutBucketPolicy", on="arn:aws:s3:::corpus"),
        "IAM_PARLIAMENT_RESOURCE_POLICY_PRIVILEGE_ESCALATION",
    ),
    (
        allow("sqs:SendMessage", on=QUEUE, Condition={"StringIs": {"aws:userid": "u"}}),
        "IAM_PARLIAMENT_UNKNOWN_OPERATOR",
    ),
    (
        allow("sqs:*", on=QUEUE, Condition={"StringEquals": {"aws:SourceAcount": "1"}}),
        "IAM_PARLIAMENT_UNKNOWN_CONDITION_FOR_ACTION",
    ),
    (allow("sqs:SendMessage", on=QUEUE, Principal="*"), "IAM_MISPLACED_ELEMENT"),
    (allow("sqs:SendMessage", on=QUEUE, Condition="never"), "IAM_NOT_JUDGED"),
    (trust(Principal={"AWS": "somebody"}), "IAM_PARLIAMENT_UNKNOWN_PRINCIPAL"),
    (trust(Principal="*", Resource="*"), "IAM_MISPLACED_ELEMENT"),
    (trust(), "IAM_MISPLACED_ELEMENT"),
    (trust(Principal="*", Action="sts:TakeRole"), "IAM_UNKNOWN_ACTION"),
    (
        trust(Principal="*", Condition={"Equals": {"aws:userid": "u"}}),
        "IAM_PARLIAMENT_UNKNOWN_OPERATOR",
    ),
    (document("resource", Action="sqs:SendMessage", Resource=QUEUE), "IAM_MISPLACED_ELEMENT"),
    (document("resource", Action="sqs:SendMessage", Principal="*"), "IAM_PARLIAMENT_MALFORMED"),
    *(
        ((kind, text), "IAM_UNREADABLE")
        for kind in PLACES
        for text in ("{", "[]", "{}", '{"Statement": ["Allow"]}', "${data.x.y.json}")
    ),
]
RIGHT = [
    allow("s3:GetObject", "s3:PutObject", on=OBJECTS),
    allow("s3:Get*", on=OBJECTS),
    allow("sqs:*", on=QUEUE, Condition={"Bool": {"aws:ViaAWSService": ["true"]}}),
    allow("batch:DescribeJobs", "ec2:DescribeVpcs"),
    trust(Principal={"Service": "ec2.amazonaws.com"}),
    trust(
        Principal={"Federated": PROVIDER},
        Action="sts:AssumeRoleWithWebIdentity",
        Condition={"StringEquals": {f"{ISSUER}:sub": "repo:acme/grist:ref"}},
    ),
    document(
        "resource",
        Sid="Only over TLS",
        Effect="Deny",
        Principal="*",
        Action="sqs:*",
        Resource=QUEUE,
        Condition={"Bool": {"aws:SecureTransport": "false"}},
    ),
]


@pytest.fixture(scope="module")
def said(policy_python: Path) -> dict[Asked, set[str]]:
    """What is said of each document above, by one run."""
    return ids(policy_python, [*(asked for asked, _ in FAULTS), *RIGHT])


@pytest.mark.parametrize(("asked", "fault"), FAULTS)
def test_a_fault_is_found(asked: Asked, fault: str, said: dict[Asked, set[str]]) -> None:
    assert fault in said[asked]


@pytest.mark.parametrize("asked", RIGHT)
def test_what_is_right_is_silent(asked: Asked, said: dict[Asked, set[str]]) -> None:
    assert said[asked] == set()


def test_an_action_that_one_tool_lacks_is_known_and_the_rest_is_still_judged(
    policy_python: Path,
) -> None:
    newer = asked_of_tools(
        policy_python,
        "from policy_sentry.querying.all import get_all_actions\n"
        "import parliament\n"
        'known = {f\'{s["prefix"]}:{p["privilege"]}\'.lower()\n'
        "         for s in parliament.iam_definition for p in s['privileges']}\n"
        "print(json.dumps(sorted(a for a in get_all_actions() if a.lower() not in known)))\n",
    )
    assert newer
    asked = allow(newer[0], "sqs:SendMessage")
    assert ids(policy_python, [asked])[asked] == {"IAM_PARLIAMENT_RESOURCE_STAR"}


def test_every_shipped_document_is_answered_for(subject: Subject, policy_python: Path) -> None:
    documents = collect(subject.app)
    assert {document.kind for document in documents} == {"identity", "trust", "resource"}
    said = {remark.id for remark in cross_check(policy_python, documents)}
    assert not said & {"IAM_UNREADABLE", "IAM_NOT_JUDGED", "IAM_UNKNOWN_ACTION"}


def test_actions_that_may_be_granted_on_all_cannot_be_limited(policy_python: Path) -> None:
    cannot = asked_of_tools(
        policy_python,
        "from policy_sentry.querying.actions import get_actions_that_support_wildcard_arns_only\n"
        "print(json.dumps(sorted(get_actions_that_support_wildcard_arns_only('all'))))\n",
    )
    assert set(UNLIMITED) <= set(cannot)


def ids(python: Path, asked: Sequence[Asked]) -> dict[Asked, set[str]]:
    resources: Tree = {}
    for number, (kind, text) in enumerate(asked):
        type_, attribute = PLACES[kind]
        resources.setdefault(type_, {})[str(number)] = {attribute: text}
    found: dict[Asked, set[str]] = {each: set() for each in asked}
    for remark in cross_check(python, collect(App.of({"team-compute": {"resource": resources}}))):
        found[asked[int(remark.document.resource.name)]].add(remark.id)
    return found


def asked_of_tools(python: Path, program: str) -> list[str]:
    command = [str(python), "-I", "-W", "ignore", "-c", f"import json\n{program}"]
    found: list[str] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found
