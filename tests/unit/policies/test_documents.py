import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from policies.cross_check import TOOLS
from policies.documents import Document, NoCrossCheckError, Remark, collect, cross_check
from policies.reading.stack import App
from tests.unit.policies.case import Trees, one, several

POLICY = json.dumps({"Version": "2012-10-17", "Statement": []})
Fake = Callable[..., Path]


def only_document(trees: Trees) -> Document:
    (document,) = collect(App.of(trees))
    return document


@pytest.fixture
def fake_python(tmp_path: Path) -> Fake:
    """What it prints, line by line, and with which code it ends -> an interpreter."""

    def write(*printed: object, code: int = 0, said: str = "") -> Path:
        file = tmp_path / "python"
        lines = "\n".join(p if isinstance(p, str) else json.dumps(p) for p in printed)
        file.write_text(f"#!/bin/sh\ncat <<'END'\n{lines}\nEND\necho '{said}' >&2\nexit {code}\n")
        file.chmod(0o755)
        return file

    return write


def test_every_kind_of_document_is_collected() -> None:
    app = App.of(
        several(
            a={
                "aws_iam_role": {"r": {"assume_role_policy": POLICY, "name": "r"}},
                "aws_iam_role_policy": {"p": {"policy": POLICY}},
                "aws_iam_policy": {"p": {"policy": POLICY}},
                "aws_kms_key": {"k": {"policy": POLICY}},
                "aws_vpc_endpoint": {"e": {"policy": POLICY}},
            },
            b={
                "aws_s3_bucket_policy": {"b": {"policy": POLICY}},
                "aws_cloudwatch_log_resource_policy": {"l": {"policy_document": POLICY}},
                "aws_backup_vault_policy": {"v": {"policy": POLICY}},
            },
        )
    )
    assert {(d.resource.type, d.attribute, d.kind) for d in collect(app)} == {
        ("aws_iam_role", "assume_role_policy", "trust"),
        ("aws_iam_role_policy", "policy", "identity"),
        ("aws_iam_policy", "policy", "identity"),
        ("aws_kms_key", "policy", "resource"),
        ("aws_vpc_endpoint", "policy", "resource"),
        ("aws_s3_bucket_policy", "policy", "resource"),
        ("aws_cloudwatch_log_resource_policy", "policy_document", "resource"),
        ("aws_backup_vault_policy", "policy", "resource"),
    }


def test_a_document_within_a_block_is_collected() -> None:
    role = one("aws_iam_role", inline_policy=[{"name": "p", "policy": POLICY}])
    assert only_document(role).attribute == "inline_policy.policy"
    assert only_document(role).kind == "identity"


@pytest.mark.parametrize(
    "conf",
    [
        {"policy": '{"rules": []}'},
        {"policy": "Statement"},
        {"policy": '["Statement"]'},
        {"//": {"metadata": {"policy": POLICY}}},
        {},
    ],
)
def test_what_is_no_policy_document_is_not_collected(conf: dict[str, Any]) -> None:
    assert collect(App.of({"s": {"resource": {"aws_ecr_lifecycle_policy": {"p": conf}}}})) == ()


@pytest.mark.parametrize("value", ["${data.aws_iam_policy_document.d.json}", "{", {"a": 1}, 3])
def test_an_unreadable_document_is_collected_too(value: object) -> None:
    assert only_document(one("aws_iam_role_policy", policy=value)).text == str(value)


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("${aws_s3_bucket.b.arn}/*", "arn:aws:s3:::name/*"),
        ("arn:aws:s3:::${aws_s3_bucket.b.bucket}/*", "arn:aws:s3:::name/*"),
        (
            "${aws_cloudwatch_log_group.l.arn}:*",
            "arn:aws:logs:us-east-1:111122223333:log-group:name:*",
        ),
        ("${aws_sqs_queue.gone.arn}", "arn:aws:sqs:us-east-1:111122223333:*"),
        (
            "${data.terraform_remote_state.x.outputs.role-of-other-arn}",
            "arn:aws:iam::111122223333:role/name",
        ),
        (
            "arn:${data.aws_partition.p.partition}:sns:${data.aws_region.r.name}:"
            "${data.aws_caller_identity.c.account_id}:topic",
            "arn:aws:sns:us-east-1:111122223333:topic",
        ),
        ("arn:aws:iam::1:user/$${aws:username}", "arn:aws:iam::1:user/${aws:username}"),
    ],
)
def test_tokens_are_filled_by_what_might_stand_there(written: str, filled: str) -> None:
    trees: Trees = one("aws_iam_role_policy", policy=json.dumps({"Statement": written}))
    trees["team-access"] = {
        "resource": {"aws_iam_role": {"r": {}}},
        "output": {"role-of-other-arn": {"value": "${aws_iam_role.r.arn}"}},
    }
    assert json.loads(only_document(trees).filled)["Statement"] == filled


def test_remarks_are_told_of_their_documents(fake_python: Fake) -> None:
    asked = collect(
        App.of(
            several(
                a={
                    "aws_iam_policy": {"p": {"policy": POLICY}},
                    "aws_kms_key": {"k": {"policy": "{"}},
                }
            )
        )
    )
    python = fake_python(
        {"tools": TOOLS},
        {"remarks": []},
        {
            "remarks": [
                {"id": "IAM_UNREADABLE", "title": "t", "statement": None, "message": "is not JSON"},
                {
                    "id": "IAM_UNKNOWN_ACTION",
                    "title": "t",
                    "statement": 0,
                    "message": "a:b is none",
                },
            ]
        },
    )
    remarks = cross_check(python, asked)
    assert [remark.document for remark in remarks] == [asked[1], asked[1]]
    assert [remark.message for remark in remarks] == [
        "policy: is not JSON: '{'",
        "policy, statement 1: a:b is none",
    ]


@pytest.mark.parametrize(
    ("printed", "code", "said"),
    [
        ([], 1, r"ended with 1 \(no module\).*make setup"),
        (["hello"], 0, "printed no JSON: 'hello"),
        ([""], 0, "printed no JSON"),
        (["[]"], 0, "printed no JSON objects"),
        ([{"remarks": []}], 0, "names no tools"),
        ([{"tools": {**TOOLS, "parliament": "1.0"}}], 0, "parliament is 1.0, must be .*make setup"),
        ([{"tools": {**TOOLS, "parliament": None}}], 0, "parliament is missing, must be"),
        ([{"tools": TOOLS}], 0, "judged 0 of 1"),
        ([{"tools": TOOLS}, {"remarks": []}, {"remarks": []}], 0, "judged 2 of 1"),
        ([{"tools": TOOLS}, {}], 0, "another form"),
        ([{"tools": TOOLS}, {"remarks": [{"id": "A"}]}], 0, "another form"),
    ],
)
def test_an_answer_that_is_none_passes_nothing(
    printed: list[object], code: int, said: str, fake_python: Fake
) -> None:
    asked = collect(App.of(one("aws_iam_policy", policy=POLICY)))
    with pytest.raises(NoCrossCheckError, match=said):
        cross_check(fake_python(*printed, code=code, said="no module"), asked)


def test_without_an_interpreter_nothing_is_passed(tmp_path: Path) -> None:
    with pytest.raises(NoCrossCheckError, match=r"can't be started .*make setup"):
        cross_check(tmp_path / "nowhere", ())


def test_a_cross_check_that_hangs_is_ended(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    with pytest.raises(NoCrossCheckError, match=r"no answer in 0\.2 s"):
        cross_check(python, (), timeout=0.2)


@pytest.mark.parametrize(
    "id_",
    ["IAM_UNREADABLE", "IAM_NOT_JUDGED", "IAM_PARLIAMENT_MALFORMED", "IAM_CLOUDSPLAINING_OTHER"],
)
def test_each_remark_says_why_it_matters_and_where_to_read_on(id_: str) -> None:
    remark = Remark(id_, "t", only_document(one("aws_iam_policy", policy=POLICY)), None, "m")
    assert remark.risk.endswith(".")
    assert remark.source.startswith("https://")


def test_the_tools_are_those_of_the_lock() -> None:
    lock = Path("requirements/policy.lock").read_text().splitlines()
    assert {f"{tool}=={version} \\" for tool, version in TOOLS.items()} <= set(lock)
