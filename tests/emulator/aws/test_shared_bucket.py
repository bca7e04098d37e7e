"""Two teams in one bucket, a prefix each: an emulator that heeds `s3:prefix` denies the other's."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.emulator.aws.environment import MissingToolError
from tests.emulator.aws.ministack import ROOT_KEY, ministack
from tests.unit.infra.choices import two_teams
from tests.unit.infra.synthesized import Synthesized, synthesized

pytestmark = pytest.mark.emulator
REGION, ACCOUNT = "us-east-1", "111122223333"
TEAMS = ("mill", "kiln")
ROLES = [(name, use) for name in TEAMS for use in ("job", "submitter")]
Clients = dict[str, Any]
"""Role -> a client of S3 with that role's permissions."""


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    teams = two_teams()
    stacks = synthesized(tmp_path_factory.mktemp("cdktf.out"), teams[0].platform, teams)
    try:
        with ministack(tmp_path_factory.mktemp("ministack"), ACCOUNT) as url:
            root = _client(url, "s3", ROOT_KEY, ROOT_KEY)
            root.create_bucket(Bucket="silo")
            for name in TEAMS:
                root.put_object(Bucket="silo", Key=f"{name}/a", Body=b"x")
            iam = _client(url, "iam", ROOT_KEY, ROOT_KEY)
            yield {
                f"{name}-{use}": _client(url, "s3", *_key(iam, stacks, f"{name}-{use}"))
                for name, use in ROLES
            }
    except MissingToolError as missing:
        pytest.skip(str(missing))


def _client(url: str, service: str, key: str, secret: str) -> Any:
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=key,
        aws_secret_access_key=secret,
    )


def _key(iam: Any, stacks: Synthesized, role: str) -> tuple[str, str]:
    """Of a user with exactly the role's statements: no process of AWS is here to take the role."""
    iam.create_user(UserName=role)
    text = json.dumps({"Version": "2012-10-17", "Statement": stacks.statements(role)})
    policy = re.sub(r"\$\{[^}]+\}", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/team", text)
    iam.put_user_policy(UserName=role, PolicyName="all", PolicyDocument=policy)
    made = iam.create_access_key(UserName=role)["AccessKey"]
    return made["AccessKeyId"], made["SecretAccessKey"]


def denied(call: Callable[[], object]) -> bool:
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] == "AccessDenied"
    return False


def other(name: str) -> str:
    return next(team for team in TEAMS if team != name)


@pytest.mark.parametrize(("name", "use"), ROLES)
def test_the_own_prefix_is_listed_and_read(clients: Clients, name: str, use: str) -> None:
    s3 = clients[f"{name}-{use}"]
    listed = s3.list_objects_v2(Bucket="silo", Prefix=f"{name}/")["Contents"]
    assert [found["Key"] for found in listed] == [f"{name}/a"]
    assert s3.get_object(Bucket="silo", Key=f"{name}/a")["Body"].read() == b"x"


@pytest.mark.parametrize(("name", "use"), ROLES)
def test_another_teams_prefix_is_neither_listed_nor_read(
    clients: Clients, name: str, use: str
) -> None:
    s3 = clients[f"{name}-{use}"]
    assert denied(lambda: s3.list_objects_v2(Bucket="silo", Prefix=f"{other(name)}/"))
    assert denied(lambda: s3.get_object(Bucket="silo", Key=f"{other(name)}/a"))


@pytest.mark.parametrize(("name", "use"), ROLES)
def test_the_whole_bucket_is_not_listed(clients: Clients, name: str, use: str) -> None:
    s3 = clients[f"{name}-{use}"]
    assert denied(lambda: s3.list_objects_v2(Bucket="silo"))
    assert denied(lambda: s3.list_objects_v2(Bucket="silo", Prefix=""))


@pytest.mark.parametrize(("name", "use"), ROLES)
def test_the_shared_input_is_not_written(clients: Clients, name: str, use: str) -> None:
    s3 = clients[f"{name}-{use}"]
    assert denied(lambda: s3.put_object(Bucket="silo", Key=f"{name}/b", Body=b"x"))
