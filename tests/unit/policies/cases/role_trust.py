import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, one
from tests.unit.policies.role_case import ACCOUNT, BY_ACCOUNT, BY_TOKEN, SOURCE, stack

KIND = "aws_iam_role"
ISSUER = "tokens.example.com"
SUBJECT = {f"{ISSUER}:sub": "repo:acme/grist:ref:main", f"{ISSUER}:aud": "sts.amazonaws.com"}


def trust(principal: Any, condition: Any = None, **more: Any) -> Trees:
    statement = {"Effect": "Allow", "Principal": principal, "Condition": condition or {}, **more}
    text = json.dumps({"Statement": {"Action": "sts:AssumeRole", **statement}})
    provider = {"issuer": {"url": f"https://{ISSUER}"}}
    return {
        "team-compute": stack(
            {
                KIND: {"it": {"assume_role_policy": text}},
                "aws_iam_openid_connect_provider": provider,
            }
        )
    }


def token(**claims: str | list[str]) -> Trees:
    return trust(
        BY_TOKEN, {"StringEquals": {**SUBJECT, **{f"{ISSUER}:{k}": claims[k] for k in claims}}}
    )


def service(**condition: Any) -> Trees:
    return trust({"Service": ["scheduler.amazonaws.com"]}, condition)


def plant(trees: Trees) -> None:
    for role in of_type(trees, KIND):
        role["assume_role_policy"] = role["assume_role_policy"].replace("production", "*")


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        token(),
        trust(
            {"Federated": "${aws_iam_openid_connect_provider.issuer.arn}"},
            {"StringEquals": SUBJECT},
        ),
        service(**SOURCE),
        service(ArnLike={"aws:SourceArn": f"arn:aws:scheduler:us-east-1:{ACCOUNT}:schedule/*"}),
        trust({"Service": "ec2.amazonaws.com"}),
        trust(BY_ACCOUNT),
        trust({"AWS": ACCOUNT}),
        trust("*", Effect="Deny"),
    ],
    fails=[
        token(sub="repo:acme/grist:*"),
        token(aud=[]),
        trust(BY_TOKEN),
        trust(BY_TOKEN, {"StringLike": SUBJECT}),
        service(),
        service(StringEquals={"aws:SourceAccount": "999999999999"}),
        service(ArnLike={"aws:SourceArn": "*"}),
        trust("*"),
        trust({"AWS": ["*"]}),
        trust({"AWS": "arn:aws:iam::999999999999:root"}),
    ],
    cannot_tell=[
        one(KIND, assume_role_policy="${data.aws_iam_policy_document.it.json}"),
        trust({"AWS": "${var.who}"}),
        trust({"AWS": "AIDAEXAMPLE"}),
        trust({"CanonicalUser": "1"}),
        trust(7),
        {"team-compute": {"resource": trust(BY_ACCOUNT)["team-compute"]["resource"]}},
    ],
    plant=plant,
)
