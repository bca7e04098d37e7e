"""Teams that share a queue each have a share of it."""

import re
from collections.abc import Iterator

from policies.check import Check
from policies.reading.companion import is_meant
from policies.reading.stack import CannotTellError, Resource, blocks, literal
from policies.reading.submitters import submitting_teams


class FairShare(Check):
    title = "Teams that share a queue each have a share of it"
    risk = "The team that submits first takes all machines until its last job is done."
    remedy = "Give each team a share_distribution of the queue in infra/constructs/gpu_queue.py."
    source = "https://docs.aws.amazon.com/batch/latest/userguide/scheduling-policies.html"
    resources = ("aws_batch_job_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        reference = resource.conf.get("scheduling_policy_arn")
        shares = _shares(_policy(reference, resource)) if reference else []
        if reference and not shares:
            yield f"{reference} has no share_distribution"
        teams = submitting_teams(resource)
        if len(teams) > 1:
            for team, role in sorted(teams.items()):
                if not any(_is_share_of(team, share) for share in shares):
                    yield f"team {team} may submit as {role}, and has no share"


def _policy(reference: object, queue: Resource) -> Resource:
    name = str(reference).rpartition(":scheduling-policy/")[2]
    for policy in queue.app.resources("aws_batch_scheduling_policy"):
        if is_meant(policy, reference, queue.stack) or is_meant(policy, name, queue.stack):
            return policy
    raise CannotTellError(f"scheduling_policy_arn is {reference}, which is not in these stacks")


def _shares(policy: Resource) -> list[str]:
    return [
        str(literal(share.get("share_identifier"), "share_identifier"))
        for share in blocks(policy.block("fair_share_policy"), "share_distribution")
    ]


def _is_share_of(team: str, share: str) -> bool:
    """As infra/team.py names it: an identifier takes letters and digits only. One that ends with *
    stands for all that begin so."""
    identifier = re.sub(r"[^A-Za-z0-9]", "", team)
    return identifier.startswith(share[:-1]) if share.endswith("*") else identifier == share
