"""Run inside LocalStack: one line of JSON for each call it is asked for, resources included."""

import json
import os
from pathlib import Path
from typing import Any

from localstack.aws import handlers
from localstack.aws.api import RequestContext
from localstack.runtime import hooks

KEPT = ("Bucket", "Key", "Prefix", "QueueUrl", "QueueName", "Name", "RoleName", "jobQueue")
"""Parameters that say on what a call is made."""


@hooks.on_infra_start()
def record() -> None:
    path = Path(os.environ["RECORDED_CALLS"])

    def write(_chain: Any, context: RequestContext, _response: Any) -> None:
        # LocalStack itself reports the queues' metrics from time to time.
        if context.is_internal_call or context.service is None or context.operation is None:
            return
        request: Any = context.service_request or {}
        line = {
            "service": context.service.service_name,
            "operation": context.operation.name,
            "account": context.account_id,
            **{name: request[name] for name in KEPT if isinstance(request.get(name), str)},
        }
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    handlers.serve_custom_service_request_handlers.append(write)
