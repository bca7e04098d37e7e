"""Terraform over synthesized stacks: the binary and provider of this machine, an emulator's URL."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.emulator.aws.localstack import MissingToolError

PROVIDER = "terraform-provider-aws_v*"
SEARCHED = ("/opt", "/usr/local", "/usr/share", str(Path.home()))
DEPTH = 9
RENAMED = {"aws_batch_compute_environment": {"name_prefix": "compute_environment_name_prefix"}}
"""Arguments of provider 6 -> of provider 5."""
ACCOUNT = "111122223333"


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
    """One synthesized app, its stacks in the order of their dependencies."""

    def __init__(self, outdir: Path, endpoint: str, mirror: Mirror) -> None:
        self.outdir, self._mirror = outdir, mirror
        self._config = outdir / "terraform.rc"
        self._config.write_text(
            f'provider_installation {{\n  filesystem_mirror {{ path = "{mirror.root}" }}\n}}\n'
        )
        manifest = json.loads((outdir / "manifest.json").read_text())["stacks"]
        self.waves = _waves({name: stack["dependencies"] for name, stack in manifest.items()})
        self.stacks = [stack for wave in self.waves for stack in wave]
        self._variables = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "TF_"))},
            "TF_CLI_CONFIG_FILE": str(self._config),
            "TF_PLUGIN_CACHE_DIR": "",
            "TF_IN_AUTOMATION": "1",
            "CHECKPOINT_DISABLE": "1",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": "test",
            "NO_PROXY": "127.0.0.1",
        }

    def folder(self, stack: str) -> Path:
        return self.outdir / "stacks" / stack

    def adapt(self, stacks: list[str] | None = None) -> None:
        """For the provider and the emulator at hand; what infra writes is left alone."""
        for stack in stacks or self.stacks:
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

    def run(self, stack: str, *arguments: str, allowed: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            ["terraform", *arguments],
            cwd=self.folder(stack),
            env=self._variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in allowed:
            raise AssertionError(
                f"{stack}: terraform {arguments[0]} ended with {done.returncode}:\n"
                f"{done.stderr[:4000] or done.stdout[-4000:]}"
            )
        return done.stdout

    def init(self, stack: str) -> None:
        self.run(stack, "init", "-no-color", "-input=false")

    def validate(self, stack: str) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.run(stack, "validate", "-json"))
        return result

    def apply(self, stack: str) -> None:
        self.run(stack, "apply", "-no-color", "-input=false", "-auto-approve", "-parallelism=10")

    def destroy(self, stack: str) -> int:
        """How many resources went."""
        said = self.run(
            stack, "destroy", "-no-color", "-input=false", "-auto-approve", "-parallelism=10"
        )
        counted = re.search(r"(\d+) destroyed", said)
        return int(counted[1]) if counted else 0

    def plan(self, stack: str) -> dict[str, Any]:
        """What would change, as Terraform's JSON."""
        self.run(stack, "plan", "-no-color", "-input=false", "-out=plan", "-parallelism=10")
        shown: dict[str, Any] = json.loads(self.run(stack, "show", "-json", "plan"))
        return shown

    def state(self, stack: str) -> list[dict[str, Any]]:
        """Every resource that was made, with its values."""
        shown = json.loads(self.run(stack, "show", "-json"))
        resources: list[dict[str, Any]] = (
            shown.get("values", {}).get("root_module", {}).get("resources", [])
        )
        return [resource for resource in resources if resource["mode"] == "managed"]


def _waves(dependencies: dict[str, list[str]]) -> list[list[str]]:
    """Stacks in the order of their dependencies; those of one wave don't need each other."""
    waves: list[list[str]] = []
    done: set[str] = set()
    while len(done) < len(dependencies):
        ready = sorted(s for s in dependencies if s not in done and set(dependencies[s]) <= done)
        assert ready, f"stacks depend on each other in a circle: {dependencies}"
        waves.append(ready)
        done |= set(ready)
    return waves
