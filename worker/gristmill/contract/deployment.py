"""Deployment: what a deployed blueprint is made of in AWS, as the client reads it.

The infrastructure writes it as one JSON value; whoever submits a run reads it, and needs neither
Terraform nor its state.
"""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

ENV_DEPLOYMENT: Final = "GRISTMILL_DEPLOYMENT"
"""Name of the parameter that holds the Deployment; set for the coordinator."""
TAG_PLATFORM: Final = "gristmill:platform"
TAG_BLUEPRINT: Final = "gristmill:blueprint"
TAG_TEAM: Final = "gristmill:team"
"""Tags of everything, jobs included: the bill is split by them, and a team may stop only jobs that
carry its own."""


def parameter_name(blueprint: str) -> str:
    """Where a blueprint's Deployment is kept."""
    return f"/gristmill/{blueprint}"


class Definition(BaseModel):
    """A job definition, at the revision that was deployed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    arn: str
    queue: str
    """ARN of the job queue that it runs in."""


class Roles(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    submitter: str
    job: str
    coordinator: str | None = None


class Deployment(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    gristmill: str
    """Version that was deployed."""
    cloud: Literal["aws"] = "aws"
    account: str
    region: str
    blueprint: str
    team: str
    image: str
    work_queue: str
    """URL of the queue of shards."""
    dead_letters: str
    """URL of the queue of shards that were given up."""
    worker: Definition
    coordinator: Definition | None = None
    """Plans, submits and finishes scheduled runs; None where nothing is scheduled."""
    share: str
    """Share identifier to submit workers with."""
    max_workers: int
    input: str
    output: str
    runs: str
    """URI under which run directories lie."""
    models: str
    """URI under which models lie."""
    roles: Roles
    logs: str
    """Log group of workers and coordinator."""
