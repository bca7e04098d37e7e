"""Deploy, look, change, destroy: once, with everything that was seen kept for the tests."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.emulator.aws.localstack import localstack
from tests.emulator.aws.matcher import found_valid
from tests.emulator.aws.terraform import Mirror, Terraform

Resource = dict[str, Any]
Line = dict[str, str]
MATCHED = "open-mill-foundation"
"""The stack that CDK Terrain's own check is tried on."""


@dataclass(frozen=True, slots=True)
class App:
    """What is deployed together, in an account of its own."""

    account: str
    synthesize: Callable[[Path, str], None]
    """Gets the folder to write to and the emulator's URL."""
    parts: frozenset[str] = frozenset()
    """Stacks to deploy, by the ends of their names; none means all."""
    left_alone: Callable[[str], object] = lambda _: None
    """Looks, after all, at what was there before."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What happens to the first app between apply and destroy."""

    seed: Callable[[str], None]
    """Puts the input there."""
    work: Callable[[str], None]
    """Does what workers do."""
    edited: str
    """The stack whose edits are planned."""
    edits: Mapping[str, Callable[[Path, str], None]]


@dataclass
class Deployed:
    """What happened to one app."""

    applied: dict[str, list[Resource]] = field(default_factory=dict)
    diagnostics: list[Any] = field(default_factory=list)
    again: list[Resource] = field(default_factory=list)
    """Changes that the second plan saw."""
    destroyed: int = 0
    left: list[Resource] = field(default_factory=list)
    left_alone: object = None
    calls: list[Line] = field(default_factory=list)

    @property
    def resources(self) -> list[Resource]:
        return [resource for stack in self.applied.values() for resource in stack]

    def statements(self, role: str) -> list[dict[str, Any]]:
        """A role's permissions as they were applied, every reference resolved."""
        return [
            statement
            for resource in self.resources
            if _of_role(resource, role)
            for statement in json.loads(resource["values"]["policy"])["Statement"]
        ]


@dataclass
class Exercise:
    apps: dict[str, Deployed]
    changed: dict[str, list[Resource]] = field(default_factory=dict)
    """Changes that each edited choice would make to the first app."""
    work_calls: list[Line] = field(default_factory=list)
    valid: list[bool] = field(default_factory=list)
    """What CDK Terrain's own check says of a sound stack, and of a broken one."""

    def __str__(self) -> str:
        applied = sum(len(app.resources) for app in self.apps.values())
        drifted = sum(len(app.again) for app in self.apps.values())
        return (
            f"emulator: {applied} resources applied, "
            f"{applied - drifted} planned again without drift, destroyed"
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One stack of one app."""

    app: str
    terraform: Terraform
    stack: str
    validated: bool = False


def exercise(
    folder: Path, mirror: Mirror, apps: Mapping[str, App], trial: Trial, endpoint: str | None
) -> Exercise:
    """`endpoint`: an emulator that runs already; None starts one. The trial is of the first app."""
    seen = Exercise({name: Deployed() for name in apps})
    with ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        url = endpoint or stack.enter_context(localstack(folder))
        ready = {name: _ready(folder / name, url, mirror, app) for name, app in apps.items()}
        waves = list(_together(ready))
        for wave in waves:
            for step, (made, said) in zip(wave, pool.map(_up, wave), strict=True):
                seen.apps[step.app].applied[step.stack] = made
                seen.apps[step.app].diagnostics += said
        deployed = len(_lines(folder))
        trial.seed(url)
        before = len(_lines(folder))
        trial.work(url)
        after = len(_lines(folder))
        _plan_all(seen, [step for wave in waves for step in wave], trial, folder, url, pool)
        for wave in reversed(waves):
            for step, (count, left) in zip(wave, pool.map(_down, wave), strict=True):
                seen.apps[step.app].destroyed += count
                seen.apps[step.app].left += left
        lines = _lines(folder)
        seen.work_calls = lines[before:after]
        for name, app in apps.items():
            seen.apps[name].left_alone = app.left_alone(url)
            seen.apps[name].calls = [
                line for line in lines[:deployed] + lines[after:] if line["account"] == app.account
            ]
    return seen


def _ready(folder: Path, url: str, mirror: Mirror, app: App) -> Terraform:
    folder.mkdir()
    out = folder / "out"
    app.synthesize(out, url)
    terraform = Terraform(out, url, mirror, app.account, app.parts)
    terraform.adapt(terraform.stacks)
    return terraform


def _together(apps: Mapping[str, Terraform]) -> Iterator[list[Step]]:
    """Waves of all apps side by side: most of a stack's time is waiting. The first stack of each
    part is validated by itself, beside the validation that comes with applying."""
    seen: set[str] = set()
    waves = ([[(name, t, s) for s in wave] for wave in t.waves] for name, t in apps.items())
    for side_by_side in zip_longest(*waves, fillvalue=[]):
        steps = [step for wave in side_by_side for step in wave]
        parts = {stack.rpartition("-")[2]: stack for _, _, stack in reversed(steps)}
        first = {stack for part, stack in parts.items() if part not in seen}
        seen |= parts.keys()
        yield [Step(*step, validated=step[2] in first) for step in steps]


def _plan_all(
    seen: Exercise,
    steps: list[Step],
    trial: Trial,
    folder: Path,
    url: str,
    pool: ThreadPoolExecutor,
) -> None:
    valid = pool.submit(_matched, steps, folder)
    (deployed,) = (step for step in steps if step.stack == trial.edited)
    edits = [
        Step(name, deployed.terraform, _edited(deployed, folder / name, edit, url))
        for name, edit in trial.edits.items()
    ]
    again = pool.map(lambda step: step.terraform.plan(step.stack), steps)
    # Against the state as it was applied: what the emulator forgot since is no part of an edit.
    changed = pool.map(
        lambda step: step.terraform.plan(step.stack, "-refresh=false", "-lock=false"), edits
    )
    for step, changes in zip(steps, again, strict=True):
        seen.apps[step.app].again += changes
    for step, changes in zip(edits, changed, strict=True):
        seen.changed[step.app] = changes
    seen.valid = valid.result()


def _matched(steps: list[Step], folder: Path) -> list[bool]:
    step = next(step for step in steps if step.stack == MATCHED)
    return found_valid(step.terraform, step.stack, folder / "matched")


def _edited(deployed: Step, folder: Path, edit: Callable[[Path, str], None], url: str) -> str:
    """A stack beside the deployed one, with its state, as another choice would synthesize it."""
    edit(folder, url)
    terraform, name = deployed.terraform, f"{deployed.stack}-{folder.name}"
    shutil.copytree(terraform.folder(deployed.stack), terraform.folder(name), symlinks=True)
    shutil.copy(folder / "stacks" / deployed.stack / "cdk.tf.json", terraform.folder(name))
    terraform.adapt([name])
    return name


def _up(step: Step) -> tuple[list[Resource], list[Any]]:
    step.terraform.init(step.stack)
    said = step.terraform.validate(step.stack)["diagnostics"] if step.validated else []
    step.terraform.apply(step.stack)
    return step.terraform.state(step.stack), said


def _down(step: Step) -> tuple[int, list[Resource]]:
    return step.terraform.destroy(step.stack), step.terraform.state(step.stack)


def _of_role(resource: Resource, role: str) -> bool:
    values = resource["values"]
    inline = resource["type"] == "aws_iam_role_policy" and values["role"] == role
    return inline or (
        resource["type"] == "aws_iam_policy" and values["name"].startswith(f"{role}-")
    )


def _lines(folder: Path) -> list[Line]:
    path = folder / "calls.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]
