"""A worker's and a submitter's permissions, enforced: what lies beside them is denied.

By moto, which heeds actions and resources of S3 and SQS. It denies every call of Batch and skips
conditions: those are judged in tests/unit/infra/test_denials.py.
"""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.server import ThreadedMotoServer

from infra.team import resolve
from tests.unit.infra.choices import maximal_blueprint, maximal_platform
from tests.unit.infra.synthesized import Synthesized, synthesized

pytestmark = pytest.mark.emulator
REGION = "us-east-1"
ACCOUNT = "123456789012"
RUNS = "mill-runs-111122223333-us-east-1"
Clients = Callable[[str, str], Any]
"""(role, service) -> a client with that role's permissions."""


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    platform = maximal_platform()
    teams = resolve(platform, [("blueprint.yaml", maximal_blueprint())])
    return synthesized(tmp_path_factory.mktemp("cdktf.out"), platform, teams)


@pytest.fixture(scope="module")
def clients(stacks: Synthesized) -> Iterator[Clients]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    url = "http://{}:{}".format(*server.get_host_and_port())

    def client(service: str, **keys: str) -> Any:
        given = {"aws_access_key_id": "x", "aws_secret_access_key": "x", **keys}
        return boto3.client(service, endpoint_url=url, region_name=REGION, **given)

    users = {role: _user(client("iam"), stacks, role) for role in ("mill-job", "mill-submitter")}
    _furnish(client)
    _enforce(url)
    yield lambda role, service: client(service, **users[role])
    server.stop()


def _user(iam: Any, stacks: Synthesized, name: str) -> dict[str, str]:
    """Someone with exactly the role's statements, in the emulator's own account."""
    iam.create_user(UserName=name)
    text = json.dumps(stacks.statements(name)).replace("111122223333:", f"{ACCOUNT}:")
    text = re.sub(r"\$\{[^}]+\}", f"arn:aws:kms:{REGION}:{ACCOUNT}:key/team", text)
    policy = {"Version": "2012-10-17", "Statement": json.loads(text)}
    iam.put_user_policy(UserName=name, PolicyName="all", PolicyDocument=json.dumps(policy))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {
        "aws_access_key_id": key["AccessKeyId"],
        "aws_secret_access_key": key["SecretAccessKey"],
    }


def _furnish(client: Callable[..., Any]) -> None:
    s3, sqs = client("s3"), client("sqs")
    for bucket in ("grain", "flour", RUNS, "other-runs"):
        s3.create_bucket(Bucket=bucket)
        for key in ("in/a", "out/a", "runs/a", "others/a"):
            s3.put_object(Bucket=bucket, Key=key, Body=b"x")
    for name in ("mill-work", "mill-work-dead", "other-work"):
        sqs.create_queue(QueueName=name)


def _enforce(url: str) -> None:
    request = urllib.request.Request(
        f"{url}/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}
    )
    urllib.request.urlopen(request).close()


def denied(call: Callable[[], object]) -> bool:
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"] in ("AccessDenied", "403")
    return False


def queue_url(name: str) -> str:
    return f"http://sqs/{ACCOUNT}/{name}"


def test_a_worker_reads_its_input_and_writes_its_places(clients: Clients) -> None:
    s3 = clients("mill-job", "s3")
    s3.get_object(Bucket="grain", Key="in/a")
    s3.put_object(Bucket="flour", Key="out/b", Body=b"x")
    s3.put_object(Bucket=RUNS, Key="runs/b", Body=b"x")


@pytest.mark.parametrize(
    ("bucket", "key"), [("grain", "others/a"), ("flour", "others/a"), ("other-runs", "runs/a")]
)
def test_another_teams_prefix_is_denied(clients: Clients, bucket: str, key: str) -> None:
    s3 = clients("mill-job", "s3")
    assert denied(lambda: s3.get_object(Bucket=bucket, Key=key))
    assert denied(lambda: s3.put_object(Bucket=bucket, Key=key, Body=b"x"))


def test_the_input_is_not_written(clients: Clients) -> None:
    s3 = clients("mill-job", "s3")
    assert denied(lambda: s3.put_object(Bucket="grain", Key="in/b", Body=b"x"))


@pytest.mark.parametrize("role", ["mill-job", "mill-submitter"])
def test_nothing_is_deleted(clients: Clients, role: str) -> None:
    s3 = clients(role, "s3")
    assert denied(lambda: s3.delete_object(Bucket="flour", Key="out/a"))
    assert denied(lambda: s3.delete_object(Bucket=RUNS, Key="runs/a"))


def test_another_queue_is_denied(clients: Clients) -> None:
    sqs = clients("mill-job", "sqs")
    sqs.receive_message(QueueUrl=queue_url("mill-work"))
    assert denied(lambda: sqs.receive_message(QueueUrl=queue_url("other-work")))


def test_a_worker_gives_shards_back_and_leaves_dead_letters_alone(clients: Clients) -> None:
    sqs = clients("mill-job", "sqs")
    sqs.send_message(QueueUrl=queue_url("mill-work"), MessageBody="1")
    assert denied(lambda: sqs.receive_message(QueueUrl=queue_url("mill-work-dead")))


def test_a_submitter_takes_dead_letters_and_no_shard(clients: Clients) -> None:
    sqs = clients("mill-submitter", "sqs")
    sqs.send_message(QueueUrl=queue_url("mill-work"), MessageBody="1")
    sqs.receive_message(QueueUrl=queue_url("mill-work-dead"))
    assert denied(lambda: sqs.receive_message(QueueUrl=queue_url("mill-work")))
