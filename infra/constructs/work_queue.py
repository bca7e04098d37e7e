"""The queue of shards, and where a shard goes that nobody could finish."""

import json
from typing import Final

from cdktn_provider_aws.sqs_queue import SqsQueue
from constructs import Construct

from infra.constructs.role import JobRole
from infra.policy import Statement, document

LEASE_SECONDS: Final = 120
RETENTION_SECONDS: Final = 14 * 86_400
TAKE: Final = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility")


class WorkQueue(Construct):
    """Messages name shards and hold no data: SQS's own key is enough."""

    def __init__(
        self, scope: Construct, id_: str, *, name: str, account: str, region: str, attempts: int
    ) -> None:
        super().__init__(scope, id_)
        self._account, self._region = account, region
        self.name, self.dead_name = f"{name}-work", f"{name}-work-dead"
        self.arn = f"arn:aws:sqs:{region}:{account}:{self.name}"
        self.dead_arn = f"arn:aws:sqs:{region}:{account}:{self.dead_name}"
        dead = self._queue("dead", self.dead_name, None)
        redrive = json.dumps(
            {"deadLetterTargetArn": dead.arn, "maxReceiveCount": attempts}, separators=(",", ":")
        )
        work = self._queue("work", self.name, redrive)
        self.url, self.dead_url = work.url, dead.url

    def grant_consume(self, role: JobRole, grant: str) -> None:
        """Lease, hold, give back and complete shards. To give back with no attempt spent is to
        send anew."""
        actions = (*TAKE, "sqs:SendMessage", "sqs:GetQueueAttributes")
        role.allow(grant, [Statement(actions, (self.arn,))])

    def grant_fill(self, role: JobRole, grant: str) -> None:
        """Add shards, see how many are left, and record those that were given up."""
        role.allow(
            grant,
            [
                Statement(("sqs:SendMessage", "sqs:GetQueueAttributes"), (self.arn,)),
                Statement(TAKE, (self.dead_arn,)),
            ],
        )

    def _queue(self, id_: str, name: str, redrive: str | None) -> SqsQueue:
        tls_only = {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "sqs:*",
            "Resource": f"arn:aws:sqs:{self._region}:{self._account}:{name}",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
        return SqsQueue(
            self,
            id_,
            name=name,
            sqs_managed_sse_enabled=True,
            visibility_timeout_seconds=LEASE_SECONDS,
            message_retention_seconds=RETENTION_SECONDS,
            receive_wait_time_seconds=5,
            redrive_policy=redrive,
            policy=document([tls_only]),
        )
