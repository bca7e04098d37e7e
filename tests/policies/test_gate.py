"""The gate over the shipped blueprints, and over faults, as a person runs it."""

import copy
import datetime
import hashlib
import json
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from policies.gate import main
from policies.waivers import Waivers
from tests.unit.policies.manifest import WORKER

SCHEMA_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SCHEMA_FILE = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SCHEMA_SHA256 = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"
COMPUTE = "stacks/embed-corpus-compute/cdk.tf.json"
TODAY = min(w.expires for w in Waivers.load(Path("policies/waivers.yaml")).waivers)
"""The last day on which all shipped waivers hold, so that this test doesn't end with them."""

Gate = Callable[..., int]


@pytest.fixture(scope="session")
def sarif_schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("sarif")
    npm = shutil.which("npm")
    assert npm, "npm, which comes with node, fetches the SARIF schema"
    subprocess.run(
        [npm, "pack", "--silent", SCHEMA_PACKAGE], cwd=folder, check=True, capture_output=True
    )
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        read = archive.extractfile(SCHEMA_FILE)
        assert read is not None
        text = read.read()
    assert hashlib.sha256(text).hexdigest() == SCHEMA_SHA256
    schema: dict[str, object] = json.loads(text)
    return schema


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    return tmp_path / "reports"


@pytest.fixture
def gate(full_platform: Path, environment: Path, reports: Path) -> Gate:
    def run(*arguments: str) -> int:
        chosen = ["--platform", str(full_platform), "--out", str(reports)]
        chosen += ["--environment", str(environment), "--today", TODAY.isoformat()]
        return main([*chosen, *arguments])

    return run


def plant(out: Path) -> None:
    tree = json.loads((out / COMPUTE).read_text())
    for environment in tree["resource"]["aws_batch_compute_environment"].values():
        environment["compute_resources"]["min_vcpus"] = 4
    (out / COMPUTE).write_text(json.dumps(tree, indent=2))


def test_the_shipped_blueprints_are_clean(
    gate: Gate, cloud_out: Path, reports: Path, sarif_schema: dict[str, object]
) -> None:
    assert gate("--stacks", str(cloud_out)) == 0, (reports / "table.txt").read_text()
    report = json.loads((reports / "report.sarif").read_text())
    jsonschema.validate(report, sarif_schema)
    results = report["runs"][0]["results"]
    assert results
    assert all(result["suppressions"] for result in results)
    assert " no findings, " in (reports / "table.txt").read_text()


def test_a_fault_is_told_with_what_where_why_and_how(
    gate: Gate,
    cloud_out: Path,
    reports: Path,
    sarif_schema: dict[str, object],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plant(cloud_out)
    assert gate("--stacks", str(cloud_out)) == 1
    table = (reports / "table.txt").read_text()
    assert capsys.readouterr().out == table
    (told,) = [
        part
        for part in table.split("\n\n")
        if "GRIST_BATCH_SCALE_TO_ZERO" in part and "/gpu/spot" in part
    ]
    for words in (
        "where embed-corpus-compute/gpu/spot",
        "from  infra/constructs/gpu_queue.py:",
        "found compute_resources.min_vcpus is 4, must be 0",
        "why   ",
        "mend  ",
        "read  https://",
    ):
        assert words in told
    report = json.loads((reports / "report.sarif").read_text())
    jsonschema.validate(report, sarif_schema)
    results = [r for r in report["runs"][0]["results"] if "suppressions" not in r]
    assert {r["ruleId"] for r in results} == {"GRIST_BATCH_SCALE_TO_ZERO"}
    for result in report["runs"][0]["results"]:
        physical = result["locations"][0]["physicalLocation"]
        assert Path(physical["artifactLocation"]["uri"]).suffix in (".py", ".yaml")
        assert physical["region"]["startLine"] > 0
    suites = ElementTree.parse(reports / "junit.xml").getroot()
    failing = {
        (case.get("classname"), case.get("name"))
        for case in suites.iter("testcase")
        if case.find("failure") is not None
    }
    assert failing == {
        (r["ruleId"], r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"])
        for r in results
    }


def test_a_stale_waiver_makes_clean_stacks_fail(
    gate: Gate, cloud_out: Path, tmp_path: Path, reports: Path
) -> None:
    late = TODAY + datetime.timedelta(days=1)
    assert gate("--stacks", str(cloud_out), "--today", late.isoformat()) == 1
    table = (reports / "table.txt").read_text()
    assert "WAIVER_EXPIRED" in table
    assert "policies/waivers.yaml:" in table


def test_a_waiver_too_many_makes_clean_stacks_fail(
    gate: Gate, cloud_out: Path, tmp_path: Path, reports: Path
) -> None:
    orphan = (
        "  - {check: CKV_AWS_999, path: '*-data/xyz', owner: platform, "
        f"reason: nothing has this any more, expires: {TODAY}}}\n"
    )
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text(Path("policies/waivers.yaml").read_text() + orphan)
    assert gate("--stacks", str(cloud_out), "--waivers", str(waivers)) == 1
    table = (reports / "table.txt").read_text()
    assert "WAIVER_UNUSED" in table
    assert "no finding of CKV_AWS_999 at *-data/xyz" in table


def test_a_blueprint_that_breaks_a_rule_is_told_with_its_line(
    gate: Gate, reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "team" / "blueprint.yaml"
    mine.parent.mkdir()
    shipped = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    mine.write_text(shipped.replace("max_workers: 40", "max_workers: 400"))
    monkeypatch.setenv("BLUEPRINTS", str(mine))
    assert gate() == 1
    table = (reports / "table.txt").read_text()
    assert "BLUEPRINT_MAX_WORKERS" in table
    assert "capacity.max_workers: got 400, must be at most 50 for team search" in table


def test_manifests_beside_a_blueprint_are_judged_with_their_lines(
    gate: Gate, reports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "team" / "blueprint.yaml"
    (mine.parent / "kubernetes").mkdir(parents=True)
    shutil.copyfile("blueprints/embed-corpus/blueprint.yaml", mine)
    manifest = mine.parent / "kubernetes" / "worker.yaml"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    monkeypatch.setenv("BLUEPRINTS", str(mine))
    manifest.write_text(yaml.safe_dump_all([config, WORKER], sort_keys=False))
    assert gate() == 0, (reports / "table.txt").read_text()
    spoilt = copy.deepcopy(WORKER)
    spoilt["spec"]["template"]["spec"]["hostNetwork"] = True
    manifest.write_text(yaml.safe_dump_all([config, spoilt], sort_keys=False))
    assert gate() == 1
    table = (reports / "table.txt").read_text()
    assert "GRIST_KUBE_NO_HOST" in table
    assert "where embed-corpus-kubernetes/worker.yaml/1-Job.worker" in table
    assert f"{manifest}:6" in table
    assert table.count("GRIST_") == 1


def test_infrastructure_that_refuses_a_blueprint_leaves_nothing_to_judge(
    gate: Gate,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = tmp_path / "blueprint.yaml"
    shipped = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    mine.write_text(shipped.replace("[L4, L40S]", "[MI210]"))
    monkeypatch.setenv("BLUEPRINTS", str(mine))
    assert gate() == 2
    assert "MI210" in capsys.readouterr().err


def test_an_unreadable_line_says_what_to_do(
    gate: Gate, tmp_path: Path, cloud_out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("version: 1\nrules: [{id: x}]\n")
    assert gate("--stacks", str(cloud_out), "--rules", str(rules)) == 2
    assert f"{rules}: rules.0.id" in capsys.readouterr().err
