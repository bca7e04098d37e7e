"""Terraform over synthesized stacks: the binary and provider of this machine, an emulator's URL."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.emulator.aws.environment import MissingToolError

PROVIDER = "terraform-provider-aws_v*"
SEARCHED = ("/opt", "/usr/local", "/usr/share", str(Path.home()))
DEPTH = 9
RENAMED = {"aws_batch_compute_environment": {"name_prefix": "compute_environment_name_prefix"}}
"""Arguments of provider 6 -> of provider 5."""
CHANGES = 2
"""Exit code of a plan that changes something."""
UNCHANGED = (["no-op"], ["read"])


@dataclass(frozen=True, slots=True)
class Mirror:
    """A folder laid out as Terraform's filesystem mirror, and the version that it has."""

    root: Path
    version: str


def find_mirror() -> Mirror:
    """The provider by its file's name, in the usual places."""
    if shutil.which("terraform") is None:
        raise MissingToolError("no terraform")
    for place in SEARCHED:
        for path in _find(Path(place), DEPTH):
            # <root>/<host>/hashicorp/aws/<version>/<system>/<binary>
            if path.parents[2].name == "aws" and path.parents[3].name == "hashicorp":
                return Mirror(path.parents[5], path.parents[1].name)
    raise MissingToolError("no AWS provider for terraform in a filesystem mirror")


def _find(place: Path, depth: int) -> list[Path]:
    listed = subprocess.run(
        ["find", str(place), "-maxdepth", str(depth), "-type", "f", "-name", PROVIDER],
        capture_output=True,
        text=True,
        check=False,
    )
    return [Path(line) for line in sorted(listed.stdout.split(), reverse=True)]


class Terraform:
    """One synthesized app in one account, its stacks in the order of their dependencies."""

    def __init__(
        self, outdir: Path, endpoint: str, mirror: Mirror, account: str, parts: Collection[str]
    ) -> None:
        """`parts`: the stacks to deploy, by the ends of their names; none means all."""
        self.outdir, self._mirror = outdir, mirror
        self._config = outdir / "terraform.rc"
        self._config.write_text(
            f'provider_installation {{\n  filesystem_mirror {{ path = "{mirror.root}" }}\n}}\n'
        )
        manifest = json.loads((outdir / "manifest.json").read_text())["stacks"]
        chosen = {
            name: stack["dependencies"]
            for name, stack in manifest.items()
            if not parts or name.rpartition("-")[2] in parts
        }
        self.waves = _waves(chosen)
        self.stacks = [stack for wave in self.waves for stack in wave]
        self.variables = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "TF_"))},
            "TF_CLI_CONFIG_FILE": str(self._config),
            "TF_PLUGIN_CACHE_DIR": "",
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            # Most of a command's work is reading the provider's schema: collecting garbage
            # meanwhile costs a third of it.
            "GOGC": "off",
            "GOMEMLIMIT": "1GiB",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": account,
            "AWS_SECRET_ACCESS_KEY": "test",
            "NO_PROXY": "127.0.0.1",
        }

    def folder(self, stack: str) -> Path:
        return self.outdir / "stacks" / stack

    def adapt(self, stacks: Collection[str]) -> None:
        """For the provider and the emulator at hand; what infra writes is left alone."""
        for stack in stacks:
            path = self.folder(stack) / "cdk.tf.json"
            tree = json.loads(path.read_text())
            tree["terraform"]["required_providers"]["aws"]["version"] = self._mirror.version
            tree["provider"]["aws"][0] |= {
                "s3_use_path_style": True,
                "skip_credentials_validation": True,
                "skip_metadata_api_check": "true",
                "max_retries": 2,
            }
            for kind, renames in RENAMED.items():
                for resource in tree.get("resource", {}).get(kind, {}).values():
                    for new, old in renames.items():
                        resource[old] = resource.pop(new)
            path.write_text(json.dumps(tree, indent=1))

    def run(self, stack: str, *arguments: str) -> str:
        said, _ = self._run(stack, arguments, (0,))
        return said

    def _run(
        self, stack: str, arguments: tuple[str, ...], allowed: tuple[int, ...]
    ) -> tuple[str, int]:
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder(stack),
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in allowed:
            raise AssertionError(
                f"{stack}: terraform {arguments[0]} ended with {done.returncode}:\n"
                f"{done.stderr[:4000] or done.stdout[-4000:]}"
            )
        return done.stdout, done.returncode

    def init(self, stack: str) -> None:
        self.run(stack, "init", "-no-color", "-input=false")

    def validate(self, stack: str) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.run(stack, "validate", "-json"))
        return result

    def apply(self, stack: str) -> None:
        self.run(stack, "apply", "-no-color", "-input=false", "-auto-approve", "-parallelism=10")

    def destroy(self, stack: str) -> int:
        """How many resources went. By the state as it is: a plan has just read everything."""
        said = self.run(
            stack,
            "destroy",
            "-no-color",
            "-input=false",
            "-auto-approve",
            "-refresh=false",
            "-parallelism=10",
        )
        counted = re.search(r"(\d+) destroyed", said)
        return int(counted[1]) if counted else 0

    def plan(self, stack: str, *options: str) -> list[dict[str, Any]]:
        """What would change, as Terraform's JSON."""
        asked = ("-no-color", "-input=false", "-out=plan", "-parallelism=10", "-detailed-exitcode")
        _, code = self._run(stack, ("plan", *asked, *options), (0, CHANGES))
        if code != CHANGES:
            return []
        shown = json.loads(self.run(stack, "show", "-json", "plan"))
        return [
            change
            for change in shown.get("resource_changes", [])
            if change["change"]["actions"] not in UNCHANGED
        ]

    def state(self, stack: str) -> list[dict[str, Any]]:
        """Every resource that was made, with its values. Read from the state's own file:
        `terraform show` would start the provider, for seconds."""
        tree = json.loads((self.outdir.parent / f"terraform.{stack}.tfstate").read_text())
        return [
            {"type": resource["type"], "values": instance["attributes"]}
            for resource in tree["resources"]
            if resource["mode"] == "managed"
            for instance in resource["instances"]
        ]


def _waves(dependencies: dict[str, list[str]]) -> list[list[str]]:
    """Stacks in the order of their dependencies; those of one wave don't need each other."""
    waves: list[list[str]] = []
    done: set[str] = set()
    while len(done) < len(dependencies):
        ready = sorted(
            stack
            for stack, needs in dependencies.items()
            if stack not in done and done.issuperset(set(needs) & dependencies.keys())
        )
        assert ready, f"stacks depend on each other in a circle: {dependencies}"
        waves.append(ready)
        done |= set(ready)
    return waves
