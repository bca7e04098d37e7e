"""What a pipeline may do: read what plans compare, and make, change and remove what stacks hold."""

from collections.abc import Sequence

from gristmill.contract.platform import Platform, S3State
from infra.policy import Statement
from infra.team import Team


def plan_statements(platform: Platform, teams: Sequence[Team]) -> list[Statement]:
    return []


def deploy_statements(platform: Platform, teams: Sequence[Team]) -> dict[str, list[Statement]]:
    return {}


def state_statements(platform: Platform, *, write: bool) -> list[Statement]:
    """Terraform's own files: the state, and its lock, which lies beside it."""
    return []
