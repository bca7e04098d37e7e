from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_queue"
CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
LARGE = "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE"
UNMET = "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT"


def limit(reason: str, action: str = "CANCEL", state: str = "RUNNABLE") -> dict[str, str]:
    return {"reason": reason, "action": action, "state": state}


def queue(*limits: dict[str, str]) -> Trees:
    return one(KIND, job_state_time_limit_action=list(limits))


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        del made["job_state_time_limit_action"][0]


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[queue(limit(UNMET), limit(LARGE), limit(CAPACITY))],
    fails=[
        one(KIND),
        queue(limit(LARGE), limit(CAPACITY)),
        queue(limit(UNMET, action="TERMINATE"), limit(LARGE), limit(CAPACITY)),
        queue(limit(UNMET, state="STARTING"), limit(LARGE), limit(CAPACITY)),
    ],
    cannot_tell=[
        queue(limit(UNMET), limit(LARGE), limit("${var.reason}")),
        one(KIND, job_state_time_limit_action="${local.limits}"),
    ],
    plant=plant,
)
