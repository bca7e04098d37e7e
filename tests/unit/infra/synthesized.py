"""Synthesized stacks, to ask questions of."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gristmill.contract.platform import Platform
from infra.team import Team

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Synthesized:
    """`cdk.tf.json` of each stack."""

    stacks: dict[str, Tree]

    def all(self, kind: str, stack: str = "") -> list[Tree]:
        """Every resource of a type, in the stacks whose names end so."""
        return [
            resource
            for name, tree in self.stacks.items()
            if name.endswith(stack)
            for resource in tree.get("resource", {}).get(kind, {}).values()
        ]

    def one(self, kind: str, stack: str = "") -> Tree:
        (found,) = self.all(kind, stack)
        return found

    def named(self, kind: str, attribute: str, value: str) -> Tree:
        (found,) = (r for r in self.all(kind) if r.get(attribute) == value)
        return found

    def container(self, definition: str) -> Tree:
        found = self.named("aws_batch_job_definition", "name", definition)
        container: Tree = json.loads(found["container_properties"])
        return container

    def statements(self, role: str) -> list[Tree]:
        """What a role may do, by its inline and its attached policies."""
        inline = [
            policy["policy"]
            for tree in self.stacks.values()
            for key, resource in tree.get("resource", {}).get("aws_iam_role", {}).items()
            if resource["name"] == role
            for policy in tree["resource"].get("aws_iam_role_policy", {}).values()
            if policy["role"] == f"${{aws_iam_role.{key}.name}}"
        ]
        attached = [
            policy["policy"]
            for policy in self.all("aws_iam_policy")
            if policy["name"].startswith(f"{role}-")
        ]
        return [s for text in inline + attached for s in json.loads(text)["Statement"]]

    def allowed(self, role: str) -> set[str]:
        return {action for statement in self.statements(role) for action in statement["Action"]}

    def kinds(self) -> set[str]:
        return {kind for tree in self.stacks.values() for kind in tree.get("resource", {})}


def synthesized(out: Path, platform: Platform, teams: tuple[Team, ...]) -> Synthesized:
    from infra.main import synthesize

    synthesize(platform, teams, out)
    return Synthesized(
        {
            folder.name: json.loads((folder / "cdk.tf.json").read_text())
            for folder in sorted((out / "stacks").iterdir())
        }
    )
