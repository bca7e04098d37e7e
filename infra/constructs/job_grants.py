"""Submitting and stopping jobs: exactly these definitions, in exactly this queue, as this team."""

from gristmill.contract.deployment import TAG_BLUEPRINT, TAG_TEAM
from infra.constructs.role import JobRole
from infra.policy import Conditions, Statement
from infra.team import Team

READ_REASON = "describing and listing jobs can't be limited to some of them"


def grant_submit(
    role: JobRole,
    grant: str,
    team: Team,
    *,
    queue: str,
    definitions: tuple[str, ...],
    shared: bool = True,
) -> None:
    """Submit, watch and stop. `shared`: the queue shares by identifier, and only the team's is
    taken. Never registering a definition: image, user and privileges are its business."""
    tagged: Conditions = {"StringEquals": {f"aws:ResourceTag/{TAG_BLUEPRINT}": team.name}}
    role.allow(
        grant,
        [
            *submit_statements(team, queue, definitions, shared=shared),
            Statement(
                ("batch:TerminateJob", "batch:CancelJob"), (team.arn("batch", "job/*"),), tagged
            ),
            Statement(("batch:DescribeJobs", "batch:ListJobs"), ("*",), reason=READ_REASON),
        ],
    )


def submit_statements(
    team: Team, queue: str, definitions: tuple[str, ...], *, shared: bool
) -> list[Statement]:
    """SubmitJob is asked of the queue, the definition and the job that comes to be; tags make it
    TagResource too."""
    mine: dict[str, str | list[str]] = {
        f"aws:RequestTag/{TAG_BLUEPRINT}": team.name,
        f"aws:RequestTag/{TAG_TEAM}": team.team,
    }
    named = tuple(
        team.arn("batch", f"job-definition/{name}{revision}")
        for name in definitions
        for revision in ("", ":*")
    )
    share: dict[str, str | list[str]] = {"batch:ShareIdentifier": team.share} if shared else {}
    return [
        Statement(
            ("batch:SubmitJob",),
            (team.arn("batch", f"job-queue/{queue}"), *named, team.arn("batch", "job/*")),
            {"StringEquals": {**mine, **share}},
        ),
        Statement(
            ("batch:TagResource",), (team.arn("batch", "job/*"),), {"StringEquals": dict(mine)}
        ),
    ]
