"""What SQS answers, and what a person reads of it."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import botocore.exceptions as botocore
import pytest
from botocore.stub import Stubber

from gristmill.contract.errors import ConfigError, PermissionRefusedError, StorageError
from gristmill.contract.process import ExitCode
from gristmill.queue.sqs_calls import HandleLostError, Message, SqsCalls, connect, region_of

URL = "https://sqs.eu-west-1.amazonaws.com/111122223333/mill-work"
CALLS: dict[str, Callable[[SqsCalls], object]] = {
    "get_queue_attributes": lambda calls: calls.attributes("VisibilityTimeout"),
    "receive_message": lambda calls: calls.receive(60, 5),
    "send_message": lambda calls: calls.send("body"),
    "send_message_batch": lambda calls: calls.send_batch(["body"]),
    "change_message_visibility": lambda calls: calls.hide("handle", 60),
    "delete_message": lambda calls: calls.delete("handle"),
}
each_call = pytest.mark.parametrize("call", CALLS)


@pytest.fixture
def client() -> Any:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    return boto3.client("sqs", region_name="eu-west-1", **keys)


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def test_a_message_is_received_hidden_and_with_its_count(client: Any, stub: Stubber) -> None:
    stub.add_response(
        "receive_message",
        {
            "Messages": [
                {
                    "MessageId": "m",
                    "ReceiptHandle": "handle",
                    "Body": "body",
                    "Attributes": {"ApproximateReceiveCount": "3"},
                }
            ]
        },
        {
            "QueueUrl": URL,
            "MaxNumberOfMessages": 1,
            "VisibilityTimeout": 60,
            "WaitTimeSeconds": 5,
            "MessageSystemAttributeNames": ["ApproximateReceiveCount"],
        },
    )
    stub.add_response("receive_message", {})
    calls = SqsCalls(client, URL)
    assert calls.receive(60, 5) == Message("handle", "body", 3)
    assert calls.receive(60, 5) is None


def test_what_sqs_does_not_take_of_a_batch_is_told(client: Any, stub: Stubber) -> None:
    stub.add_response(
        "send_message_batch",
        {
            "Successful": [{"Id": "0", "MessageId": "m", "MD5OfMessageBody": "0"}],
            "Failed": [{"Id": "1", "Code": "InternalError", "SenderFault": False}],
        },
        {
            "QueueUrl": URL,
            "Entries": [{"Id": "0", "MessageBody": "a"}, {"Id": "1", "MessageBody": "b"}],
        },
    )
    (unsent,) = SqsCalls(client, URL).send_batch(["a", "b"])
    assert (unsent.body, unsent.code, unsent.ours) == ("b", "InternalError", False)


@each_call
@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("AWS.SimpleQueueService.NonExistentQueue", StorageError, "there is no such queue; deploy"),
        ("QueueDoesNotExist", StorageError, "there is no such queue"),
        ("AccessDenied", PermissionRefusedError, r"refused \(AccessDenied\); give this identity"),
        ("ExpiredToken", PermissionRefusedError, r"credentials .* \(ExpiredToken\); renew them"),
        ("RequestThrottled", StorageError, "throttled 5 tries .* fewer workers, or later"),
        ("InternalError", StorageError, "SQS answered InternalError to the last try"),
    ],
)
def test_a_refusal_says_where_what_and_what_to_do(
    client: Any, stub: Stubber, call: str, code: str, kind: type[StorageError], said: str
) -> None:
    stub.add_client_error(call, code, "words that may change")
    with pytest.raises(kind, match=said) as caught:
        CALLS[call](SqsCalls(client, URL))
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"{URL}: ")
    assert "words that may change" not in str(caught.value)


@each_call
@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (botocore.NoCredentialsError(), PermissionRefusedError, "no AWS credentials"),
        (
            botocore.CredentialRetrievalError(provider="p", error_msg="m"),
            PermissionRefusedError,
            "no AWS credentials",
        ),
        (
            botocore.EndpointConnectionError(endpoint_url="https://nowhere"),
            StorageError,
            "check the network, the region and AWS_ENDPOINT_URL",
        ),
        (
            botocore.ReadTimeoutError(endpoint_url="https://nowhere"),
            StorageError,
            r"after 5 tries \(ReadTimeoutError\)",
        ),
    ],
    ids=lambda case: type(case).__name__ if isinstance(case, Exception) else "",
)
def test_a_call_that_reaches_nobody_says_why(
    client: Any, call: str, error: Exception, kind: type[StorageError], said: str
) -> None:
    def fail(**_: Any) -> None:
        raise error

    client.meta.events.register_first("before-call.sqs", fail)
    with pytest.raises(kind, match=said) as caught:
        CALLS[call](SqsCalls(client, URL))
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"{URL}: ")


@pytest.mark.parametrize("call", ["change_message_visibility", "delete_message"])
@pytest.mark.parametrize(
    "code",
    [
        "AWS.SimpleQueueService.MessageNotInflight",
        "MessageNotInflight",
        "ReceiptHandleIsInvalid",
        "InvalidParameterValue",
    ],
)
def test_a_handle_that_stands_for_nothing_any_more_is_told_by_its_code(
    client: Any, stub: Stubber, call: str, code: str
) -> None:
    stub.add_client_error(call, code)
    with pytest.raises(HandleLostError):
        CALLS[call](SqsCalls(client, URL))


@pytest.mark.parametrize(
    ("url", "env", "region"),
    [
        (URL, {"AWS_REGION": "us-east-1"}, "eu-west-1"),
        ("https://vpce-0.sqs.us-gov-west-1.vpce.amazonaws.com/1/q", {}, "us-gov-west-1"),
        ("https://sqs-fips.us-east-2.amazonaws.com/1/q", {}, "us-east-2"),
        ("https://us-east-1.queue.amazonaws.com/1/q", {}, "us-east-1"),
        ("http://sqs.ap-south-1.localhost.localstack.cloud:4566/1/q", {}, "ap-south-1"),
        ("http://127.0.0.1:4566/1/q", {"AWS_REGION": "us-west-2"}, "us-west-2"),
        ("http://127.0.0.1:4566/1/q", {"AWS_DEFAULT_REGION": "us-west-1"}, "us-west-1"),
    ],
)
def test_the_region_is_the_urls_or_the_environments(
    url: str, env: dict[str, str], region: str
) -> None:
    assert region_of(url, env) == region


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mill-work", "is no URL of a queue; write sqs:https://sqs.<region>"),
        ("https://sqs.eu-west-1.amazonaws.com/", "is no URL of a queue"),
        (f"{URL}.fifo", "is a FIFO queue.*make a standard queue"),
        ("http://127.0.0.1:4566/1/q", "its region is not known; set AWS_REGION"),
    ],
)
def test_a_queue_that_can_not_be_used_is_refused(url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        region_of(url, {})
    assert caught.value.exit_code == ExitCode.CONFIG
    assert str(caught.value).startswith(f"sqs:{url}: ")


def test_a_client_is_of_the_queues_region_and_tries_five_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    made = connect(URL)
    assert made.meta.region_name == "eu-west-1"
    assert made.meta.endpoint_url == "http://127.0.0.1:1"
    assert made.meta.config.retries == {"mode": "standard", "total_max_attempts": 5}


def test_an_environment_that_makes_no_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    with pytest.raises(ConfigError, match=r"no client can be made.*no-such-profile"):
        connect(URL)
