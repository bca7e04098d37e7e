"""CDK Terrain's own check of synthesized stacks, offline.

In a process of its own: the library hands its environment on to Terraform as it was at its start.
"""

import json
import subprocess
import sys
from pathlib import Path

from tests.emulator.aws.environment import ROOT
from tests.emulator.aws.terraform import Terraform

ASK = """
import json, sys
from cdktn import Testing
print(json.dumps([Testing.to_be_valid_terraform(folder) for folder in sys.argv[1:]]))
"""


def found_valid(terraform: Terraform, stack: str, folder: Path) -> list[bool]:
    """What it says of a stack as it was applied, and of the same stack with a fault in it."""
    sound = (terraform.folder(stack) / "cdk.tf.json").read_text()
    tree = json.loads(sound)
    tree["resource"]["aws_vpc"]["broken"] = {"no_such_argument": 1}
    folders = [
        _written(folder / name, stack, text)
        for name, text in (("sound", sound), ("broken", json.dumps(tree)))
    ]
    done = subprocess.run(
        [sys.executable, "-c", ASK, *map(str, folders)],
        env=terraform.variables,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    said: list[bool] = json.loads(done.stdout)
    return said


def _written(folder: Path, stack: str, text: str) -> Path:
    place = folder / "stacks" / stack
    place.mkdir(parents=True)
    (place / "cdk.tf.json").write_text(text)
    manifest = {"stacks": {stack: {"workingDirectory": f"stacks/{stack}"}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder
