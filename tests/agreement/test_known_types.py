"""The types that the gate's checks were written for are those that infra makes."""

import re
from pathlib import Path

from policies.known_types import KNOWN

IMPORTED = re.compile(r"from cdktn_provider_aws\.(\w+) import")


def test_the_gate_knows_each_type_that_infra_makes_and_no_other() -> None:
    made = {
        f"aws_{name}"
        for file in Path("infra").rglob("*.py")
        for name in IMPORTED.findall(file.read_text())
    }
    assert made - {"aws_provider"} | {"kubernetes_manifest"} == KNOWN
