"""The deployed queue and the code that leases from it: one time, one count, the same rights."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from gristmill.contract.ticket import Ticket
from gristmill.queue.protocol import Lease, silent
from gristmill.queue.sqs import SqsQueue, open_sqs
from infra.constructs.work_queue import LEASE_SECONDS
from infra.team import resolve
from tests.doubles.sqs_service import sqs_service
from tests.unit.infra.choices import maximal_blueprint, maximal_platform
from tests.unit.infra.iam import Call, allows, as_call
from tests.unit.infra.synthesized import Synthesized, synthesized

ACCOUNT, REGION = "123456789012", "us-east-1"
ATTEMPTS = 4


@dataclass
class Deployed:
    """The queues that the stacks describe, and what is asked of them."""

    client: Any
    time: float = 1_000_000.0
    calls: list[Call] = field(default_factory=list)

    def make(self, stacks: Synthesized) -> str:
        """URL of the work queue."""
        work, dead = (
            stacks.named("aws_sqs_queue", "name", name) for name in ("mill-work", "mill-work-dead")
        )
        arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{dead['name']}"
        redrive = json.loads(work["redrive_policy"]) | {"deadLetterTargetArn": arn}
        self.client.create_queue(QueueName=dead["name"], Attributes=_attributes(dead))
        made = self.client.create_queue(
            QueueName=work["name"],
            Attributes=_attributes(work) | {"RedrivePolicy": json.dumps(redrive)},
        )
        return str(made["QueueUrl"])

    def open(self, url: str) -> SqsQueue:
        queue = open_sqs(url, run="r", now=lambda: self.time, tell=silent, poll_seconds=0)
        queue._work._client.meta.events.register("before-call.sqs", self._note)
        return queue

    def _note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        url = json.loads(params["body"])["QueueUrl"]
        # One call may be a batch of what its action allows.
        operation = model.name.removesuffix("Batch")
        recorded = {"service": "sqs", "operation": operation, "QueueUrl": url}
        self.calls.append(as_call(recorded, ACCOUNT, REGION))


def _attributes(queue: dict[str, Any]) -> dict[str, str]:
    return {
        "VisibilityTimeout": str(queue["visibility_timeout_seconds"]),
        "MessageRetentionPeriod": str(queue["message_retention_seconds"]),
        "ReceiveMessageWaitTimeSeconds": str(queue["receive_wait_time_seconds"]),
    }


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    platform = maximal_platform()
    teams = resolve(platform, [("blueprint.yaml", maximal_blueprint())])
    return synthesized(tmp_path_factory.mktemp("cdktf.out"), platform, teams)


@pytest.fixture
def deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    deployed = Deployed(None)
    with sqs_service(lambda: deployed.time, monkeypatch) as deployed.client:
        yield deployed


def test_a_lease_is_as_long_as_the_deployed_queue_says(
    stacks: Synthesized, deployed: Deployed
) -> None:
    assert deployed.open(deployed.make(stacks)).lease_seconds == LEASE_SECONDS


def test_a_ticket_is_given_up_after_the_blueprints_attempts(
    stacks: Synthesized, deployed: Deployed
) -> None:
    queue = deployed.open(deployed.make(stacks))
    queue.fill([Ticket(1)])
    for receives in range(1, ATTEMPTS + 1):
        lease = queue.lease()
        assert lease is not None
        assert lease.receives == receives
        deployed.time += LEASE_SECONDS
    assert queue.lease() is None
    assert queue.given_up() is not None


def granted(stacks: Synthesized, role: str) -> list[dict[str, Any]]:
    text = json.dumps(stacks.statements(role)).replace("111122223333:", f"{ACCOUNT}:")
    statements: list[dict[str, Any]] = json.loads(text)
    return [s for s in statements if s["Action"][0].startswith("sqs:")]


def rights(statements: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(a, r) for s in statements for a in s["Action"] for r in s["Resource"]}


def assert_agreed(stacks: Synthesized, role: str, calls: list[Call]) -> None:
    """What is asked is allowed, and what is allowed is asked."""
    statements = granted(stacks, role)
    assert [call for call in calls if not allows(statements, call)] == []
    assert rights(statements) == {(call.action, call.resource) for call in calls}


def leased(queue: SqsQueue) -> Lease:
    lease = queue.lease()
    assert lease is not None
    return lease


def test_a_worker_may_do_what_it_asks_of_the_queue_and_no_more(
    stacks: Synthesized, deployed: Deployed
) -> None:
    url = deployed.make(stacks)
    deployed.open(url).fill(map(Ticket, range(3)))
    deployed.calls.clear()
    queue = deployed.open(url)
    first = leased(queue)
    queue.extend(first)
    queue.complete(first)
    queue.release(leased(queue), spent=False)
    queue.release(leased(queue), spent=True)
    queue.outstanding()
    assert_agreed(stacks, "mill-job", deployed.calls)


@pytest.mark.parametrize("role", ["mill-coordinator", "mill-submitter"])
def test_who_fills_the_queue_may_do_what_that_and_recording_failures_ask_and_no_more(
    stacks: Synthesized, deployed: Deployed, role: str
) -> None:
    url = deployed.make(stacks)
    client, worker = deployed.open(url), deployed.open(url)
    client.fill([Ticket(1)])
    client.outstanding()
    asked = list(deployed.calls)
    for _ in range(ATTEMPTS):
        worker.release(leased(worker), spent=True)
    assert worker.lease() is None
    deployed.calls.clear()
    dead = client.given_up()
    assert dead is not None
    client.extend(dead)
    client.complete(dead)
    assert_agreed(stacks, role, asked + deployed.calls)
