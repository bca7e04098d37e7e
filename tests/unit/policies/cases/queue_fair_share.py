import json
from typing import Any

from tests.unit.policies.case import Cases, Trees, of_type, several

KIND = "aws_batch_job_queue"
SHARED = "arn:aws:batch:us-east-1:111122223333:job-queue/shared"
POLICY = "${aws_batch_scheduling_policy.fair.arn}"
ONE_TEAM = {"search": SHARED}
TWO_TEAMS = {"search": SHARED, "ad-ranking": SHARED}


def app(
    teams: dict[str, str], shares: tuple[str, ...] = (), policy: str | None = POLICY, **queue: Any
) -> Trees:
    """A queue, and for each team a stack with a role that may submit to what is named."""
    distribution = [{"share_identifier": share} for share in shares]
    trees = several(
        platform_compute={
            KIND: {"it": {"name": "shared", "scheduling_policy_arn": policy, **queue}},
            "aws_batch_scheduling_policy": {
                "fair": {"name": "fair", "fair_share_policy": {"share_distribution": distribution}}
            },
        }
    )
    for team, resource in teams.items():
        trees[f"{team}-access"] = submitter(team, resource)
    return trees


def submitter(team: str | None, resource: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Action": "batch:SubmitJob", "Resource": [resource]}
    return {
        "provider": {"aws": [{"default_tags": [{"tags": {"gristmill:team": team}}]}]},
        "resource": {
            "aws_iam_role": {"role": {"name": f"{team}-submitter"}},
            "aws_iam_role_policy": {
                "submit": {
                    "role": "${aws_iam_role.role.name}",
                    "policy": json.dumps({"Statement": [statement]}),
                }
            },
        },
    }


def run_as(role: str, team: str) -> Trees:
    """The role of team search is also that of another team's jobs."""
    trees = app(ONE_TEAM, policy=None)
    trees["other-compute"] = {
        "resource": {
            "aws_batch_job_definition": {
                "job": {
                    "container_properties": json.dumps(
                        {"jobRoleArn": f"arn:aws:iam::111122223333:role/{role}"}
                    ),
                    "tags": {"gristmill:team": team},
                }
            }
        }
    }
    return trees


def all_but() -> Trees:
    trees = app(ONE_TEAM)
    conf = trees["search-access"]["resource"]["aws_iam_role_policy"]["submit"]
    statement = {"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}
    conf["policy"] = json.dumps({"Statement": statement})
    return trees


def stranger() -> Trees:
    trees = app(ONE_TEAM)
    trees["nobody-access"] = submitter(None, SHARED)
    return trees


def plant(trees: Trees) -> None:
    named = of_type(trees, KIND)[-1]["name"]
    trees["other-access"] = submitter(
        "other", f"arn:aws:batch:us-east-1:111122223333:job-queue/{named}"
    )


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        app({}, policy=None),
        app(ONE_TEAM, policy=None),
        app(ONE_TEAM, ("whatever",)),
        app(TWO_TEAMS, ("search", "adranking")),
        app(TWO_TEAMS, ("s*", "ad*"), policy="arn:aws:batch:r:1:scheduling-policy/fair"),
        app({**ONE_TEAM, "ads": SHARED.replace("shared", "own")}, policy=None),
        app({**ONE_TEAM, "ads": SHARED.replace("job-queue", "job-definition")}, policy=None),
        run_as("search-submitter", "search"),
    ],
    fails=[
        app(ONE_TEAM),
        app(TWO_TEAMS, policy=None),
        app(TWO_TEAMS, ("search",)),
        app({**ONE_TEAM, "ads": "*"}, policy=None),
        app({**ONE_TEAM, "ads": "arn:aws:batch:*:*:job-queue/*"}, policy=None),
        app({**ONE_TEAM, "ads": "arn:aws:batch:*"}, policy=None),
        run_as("search-submitter", "ads"),
    ],
    cannot_tell=[
        app(ONE_TEAM, ("search",), policy="${var.policy}"),
        app(ONE_TEAM, ("${var.share}",)),
        app({"search": "${var.queue}"}, policy=None),
        app(ONE_TEAM, policy=None, name="${var.name}"),
        app({"search": f"{SHARED[:-6]}${{var.queue}}"}, policy=None),
        all_but(),
        stranger(),
    ],
    plant=plant,
)
