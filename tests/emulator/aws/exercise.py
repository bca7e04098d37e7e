"""Deploy, look, change, destroy: once, with everything that was seen kept for the tests."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.emulator.aws.localstack import localstack
from tests.emulator.aws.terraform import Mirror, Terraform

Resource = dict[str, Any]
UNCHANGED = (["no-op"], ["read"])


@dataclass
class Exercise:
    """What happened."""

    applied: dict[str, list[Resource]] = field(default_factory=dict)
    diagnostics: list[Any] = field(default_factory=list)
    again: list[Resource] = field(default_factory=list)
    """Changes that the second plan saw."""
    changed: dict[str, list[Resource]] = field(default_factory=dict)
    """Changes that each edited choice would make."""
    destroyed: int = 0
    left: list[Resource] = field(default_factory=list)
    deploy_calls: list[dict[str, str]] = field(default_factory=list)
    work_calls: list[dict[str, str]] = field(default_factory=list)

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


def _of_role(resource: Resource, role: str) -> bool:
    values = resource["values"]
    inline = resource["type"] == "aws_iam_role_policy" and values["role"] == role
    return inline or (
        resource["type"] == "aws_iam_policy" and values["name"].startswith(f"{role}-")
    )


def exercise(
    folder: Path,
    mirror: Mirror,
    synthesize: Callable[[Path], None],
    edits: dict[str, Callable[[Path], None]],
    seed: Callable[[str], None],
    work: Callable[[str], None],
    endpoint: str | None,
) -> Exercise:
    """`endpoint`: an emulator that runs already; None starts one. `seed` gets its URL
    and puts the input there, `work` does what workers do, between apply and destroy."""
    out, seen = folder / "out", Exercise()
    synthesize(out)
    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        url = endpoint or stack.enter_context(localstack(folder))
        terraform = Terraform(out, url, mirror)
        terraform.adapt()
        for wave in terraform.waves:
            for name, made, said in pool.map(lambda s: _up(terraform, s), wave):
                seen.applied[name] = made
                seen.diagnostics += said
        deployed = _lines(folder)
        seed(url)
        before = len(_lines(folder))
        work(url)
        seen.work_calls = _lines(folder)[before:]
        for changes in pool.map(lambda s: _changes(terraform, s), terraform.stacks):
            seen.again += changes
        for name, edit in edits.items():
            seen.changed[name] = _edited(terraform, folder / name, edit, pool)
        before = len(_lines(folder))
        for wave in reversed(terraform.waves):
            for count, left in pool.map(lambda s: _down(terraform, s), wave):
                seen.destroyed += count
                seen.left += left
        seen.deploy_calls = deployed + _lines(folder)[before:]
    return seen


def _up(terraform: Terraform, stack: str) -> tuple[str, list[Resource], list[Any]]:
    terraform.init(stack)
    said = terraform.validate(stack)["diagnostics"]
    terraform.apply(stack)
    return stack, terraform.state(stack), said


def _down(terraform: Terraform, stack: str) -> tuple[int, list[Resource]]:
    return terraform.destroy(stack), terraform.state(stack)


def _changes(terraform: Terraform, stack: str) -> list[Resource]:
    changes = terraform.plan(stack).get("resource_changes", [])
    return [change for change in changes if change["change"]["actions"] not in UNCHANGED]


def _edited(
    terraform: Terraform, folder: Path, edit: Callable[[Path], None], pool: ThreadPoolExecutor
) -> list[Resource]:
    """Plans of the compute stack as if another choice were synthesized over the deployed one."""
    edit(folder)
    stacks = [stack for stack in terraform.stacks if stack.endswith("-compute")]
    kept = {stack: (terraform.folder(stack) / "cdk.tf.json").read_text() for stack in stacks}
    for stack in stacks:
        shutil.copy(
            folder / "stacks" / stack / "cdk.tf.json", terraform.folder(stack) / "cdk.tf.json"
        )
    terraform.adapt(stacks)
    changes = [c for found in pool.map(lambda s: _changes(terraform, s), stacks) for c in found]
    for stack, text in kept.items():
        (terraform.folder(stack) / "cdk.tf.json").write_text(text)
    return changes


def _lines(folder: Path) -> list[dict[str, str]]:
    path = folder / "calls.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]
