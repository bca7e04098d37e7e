"""Composition root: platform.yaml and blueprints in, one folder of Terraform a stack out."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gristmill.contract.errors import ConfigError
from gristmill.contract.load import deployable_blueprints, load_platform
from gristmill.contract.platform import Platform
from infra.idle import idle_report
from infra.origin import traced
from infra.team import Team, resolve

if TYPE_CHECKING:
    from cdktn import App

ENV_PLATFORM: Final = "PLATFORM"
"""Path of the platform's file. Absent: `platform.yaml`."""
ENV_BLUEPRINTS: Final = "BLUEPRINTS"
"""Paths of blueprints, by spaces. Absent: all of `blueprints/*/` that name GPUs."""

ENV_ORIGINS: Final = "ORIGINS"
"""Path of a JSON file to write: for each construct, where in infra/ it was made. Absent: none."""

TARGETS: Final = {"terraform": ">=1.10.0", "opentofu": ">=1.10.0"}
"""From these on, S3 itself locks a state."""


def main(environment: Mapping[str, str] = os.environ) -> int:
    try:
        platform = load_platform(Path(environment.get(ENV_PLATFORM, "platform.yaml")))
        teams = resolve(platform, deployable_blueprints(environment.get(ENV_BLUEPRINTS)))
        if origins := environment.get(ENV_ORIGINS):
            with traced() as made:
                synthesize(platform, teams, None)
            Path(origins).write_text(json.dumps(made))
        else:
            synthesize(platform, teams, None)
    except ConfigError as error:
        print(error, file=sys.stderr)  # noqa: T201 - the one place that speaks to the person
        return int(error.exit_code)
    print(idle_report(platform, teams))  # noqa: T201
    return 0


def synthesize(platform: Platform, teams: tuple[Team, ...], outdir: Path | None) -> None:
    """`outdir` None: where the CLI that runs us asks for it."""
    from cdktn import App

    context = {"targetVersions": TARGETS}
    app = App(outdir=str(outdir), context=context) if outdir else App(context=context)
    compose(app, platform, teams)
    app.synth()


def compose(app: "App", platform: Platform, teams: tuple[Team, ...]) -> None:
    from infra.stacks.access import AccessStack
    from infra.stacks.compute import ComputeStack
    from infra.stacks.data import DataStack
    from infra.stacks.foundation import FoundationStack
    from infra.stacks.observability import ObservabilityStack
    from infra.stacks.pipeline import PipelineStack
    from infra.stacks.schedule import ScheduleStack

    foundation = FoundationStack(app, platform, teams)
    if platform.ci is not None:
        PipelineStack(app, platform, platform.ci, teams)
    for team in teams:
        data = DataStack(app, team)
        compute = ComputeStack(app, team, foundation, data)
        AccessStack(app, team, data, compute)
        ObservabilityStack(app, team, data, compute).add_dependency(compute)
        if team.blueprint.schedule is not None and compute.coordinator is not None:
            ScheduleStack(app, team, team.blueprint.schedule, compute.coordinator)


if __name__ == "__main__":
    sys.exit(main())
