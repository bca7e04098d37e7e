"""Deployment: what a deployed blueprint is made of in AWS, as the client reads it.

The infrastructure writes it as one JSON value; whoever submits a run reads it, and needs neither
Terraform nor its state.
"""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

ENV_DEPLOYMENT: Final = "GRISTMILL_DEPLOYMENT"
"""Name of the parameter that holds the Deployment; set for the coordinator."""
TAG_PLATFORM: Final = "gristmill:platform"
"""`name` of platform.yaml. On everything that carries tags; the bill is split by these three."""
TAG_BLUEPRINT: Final = "gristmill:blueprint"
"""On everything of one blueprint, its jobs included; its budget counts what carries it."""
TAG_TEAM: Final = "gristmill:team"
"""On the same. People of a team may stop only jobs that carry their own."""


def parameter_name(blueprint: str) -> str:
    """Where a blueprint's Deployment is kept."""
    return f"/gristmill/{blueprint}"


class Definition(BaseModel):
    """A job definition, at the revision that was deployed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arn: str
    """With its revision."""
    queue: str
    """ARN of the job queue that it runs in."""


class Roles(BaseModel):
    """ARNs of who does what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    submitter: str
    """For the team's people: plan, submit, watch, stop, read results."""
    job: str
    """What a worker may do."""
    coordinator: str
    """What may plan a run, submit its workers and finish it."""


class Deployment(BaseModel):
    """All that a client needs to know of one blueprint in one account and region."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    """Of this record's format."""
    gristmill: str
    """Version that was deployed."""
    cloud: Literal["aws"] = "aws"
    """Where it is."""
    account: str
    """The account's 12 digits."""
    region: str
    """Where everything below is."""
    blueprint: str
    """Its `name`: the stacks and most resources start with it."""
    team: str
    """Whose it is; the blueprint's name where it names none."""
    image: str
    """What workers and coordinator run."""
    work_queue: str
    """URL of the queue of shards."""
    dead_letters: str
    """URL of the queue of shards that were given up."""
    worker: Definition
    """A worker on a GPU."""
    coordinator: Definition
    """The small machine without GPU that plans and finishes a run."""
    share: str
    """Share identifier to submit workers with."""
    max_workers: int
    """As many as may work at once."""
    input: str
    """URI under which inputs lie."""
    output: str
    """URI under which results lie."""
    runs: str
    """URI under which run directories lie."""
    models: str
    """URI under which models lie."""
    roles: Roles
    """Who may do what."""
    logs: str
    """Log group of workers and coordinator."""
