"""A team adds checks, and can't loosen those of all."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from policies.gate import main

OWN = '''\
"""The team's queues keep messages for a week at least."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource


class WeekOfMessages(Check):
    title = "A queue keeps messages for thirty days"
    risk = "We could not look at what failed on a Friday."
    remedy = "Ask the platform team."
    source = "https://docs.aws.amazon.com"
    resources = ("aws_sqs_queue",)

    def faults(self, resource: Resource) -> Iterator[str]:
        if resource.conf["message_retention_seconds"] < 30 * 86_400:
            yield "messages are gone after two weeks"
'''
LOOSENS = """
from policies.check import LoadedCheck, Verdict

LoadedCheck.verdict = lambda self, resource: Verdict("pass")
try:
    import policies.judge, policies.waivers
except ImportError:
    pass  # in checkov's environment
else:
    policies.judge.judge = lambda *_: None
    policies.waivers.Waivers.apply = lambda self, findings, stacks, today: ([], list(findings))
"""


@pytest.fixture
def fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's blueprint with a fault planted where only a shared rule sees it."""
    folder = tmp_path / "maps"
    (folder / "policies").mkdir(parents=True)
    text = Path("blueprints/embed-corpus/blueprint.yaml").read_text()
    (folder / "blueprint.yaml").write_text(text.replace("name: embed-corpus", "name: maps"))
    monkeypatch.setenv("BLUEPRINTS", str(folder / "blueprint.yaml"))
    return folder


@pytest.fixture
def gate(full_platform: Path, environment: Path, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Exit code, and the table."""

    def run(*more: str) -> tuple[int, str]:
        out = tmp_path / "reports"
        arguments = ["--platform", str(full_platform), "--out", str(out)]
        code = main([*arguments, "--environment", str(environment), *more])
        table = out / "table.txt"
        return code, table.read_text() if table.exists() else ""

    return run


def test_a_teams_check_finds_what_only_the_team_demands(
    fork: Path, gate: Callable[..., tuple[int, str]]
) -> None:
    (fork / "policies" / "keeps_messages.py").write_text(OWN)
    code, table = gate()
    assert code == 1
    assert "TEAM_MAPS_KEEPS_MESSAGES: A queue keeps messages for thirty days" in table
    assert "GRIST_" not in table


def test_a_teams_code_cannot_loosen_the_shared_checks(
    fork: Path, gate: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (fork / "policies" / "batch_scale_to_zero.py").write_text(OWN.replace("30 * 86_400", "1"))
    assert gate()[0] == 0
    out = tmp_path / "reports" / "cdktf.out"
    stack = out / "stacks" / "maps-compute" / "cdk.tf.json"
    tree = json.loads(stack.read_text())
    for environment in tree["resource"]["aws_batch_compute_environment"].values():
        environment["compute_resources"]["min_vcpus"] = 4
    stack.write_text(json.dumps(tree, indent=2))
    with (fork / "policies" / "batch_scale_to_zero.py").open("a") as file:
        file.write(LOOSENS)
    code, table = gate("--stacks", str(out))
    assert code == 1
    assert "GRIST_BATCH_SCALE_TO_ZERO" in table


def test_a_teams_broken_check_is_not_passed(
    fork: Path, gate: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    (fork / "policies" / "mine.py").write_text("import nothing_of_the_kind\n")
    assert gate()[0] == 2
    assert "mine.py: ModuleNotFoundError" in capsys.readouterr().err


SPOILS = {
    "yields-no-text": (
        OWN.replace('yield "messages are gone after two weeks"', "yield object()"),
        1,
        "the check yields something that is no text",
    ),
    "ends-python": (f"{OWN}\nimport os; os._exit(0)\n", 2, "print while they are loaded"),
    "prints": (f"{OWN}\nprint('hello')\n", 2, "print while they are loaded"),
    "resources-no-tuple": (
        OWN.replace('("aws_sqs_queue",)', '"aws_sqs_queue"'),
        2,
        "resources must be a tuple of types",
    ),
    "control-characters": (
        OWN.replace("messages are gone", "messages\\x1b[2K\\x01 are gone"),
        1,
        "messages\ufffd[2K\ufffd are gone",
    ),
    "of-a-type-that-is-nowhere": (OWN.replace("aws_sqs_queue", "aws_lambda_function"), 0, ""),
    "writes-where-it-is-planned-from": (
        OWN
        + """
import pathlib
for folder in pathlib.Path({out!r}).glob("cdktf.out/stacks/*"):
    (folder / "extra.tf").write_text("# unseen")
""",
        2,
        "was changed while the teams' checks ran",
    ),
}


@pytest.mark.parametrize(("code", "ends", "said"), SPOILS.values(), ids=SPOILS)
def test_a_teams_code_that_misbehaves_hides_nothing(
    code: str,
    ends: int,
    said: str,
    fork: Path,
    gate: Callable[..., tuple[int, str]],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    placed = code.replace("{out!r}", repr(str(tmp_path / "reports")))
    (fork / "policies" / "mine.py").write_text(placed)
    (fork / "policies" / "healthy.py").write_text(OWN.replace("30 * 86_400", "1"))
    ended, table = gate()
    assert ended == ends
    told = table if ends == 1 else capsys.readouterr().err
    assert said in told
    if ends == 1:
        ElementTree.parse(tmp_path / "reports" / "junit.xml")


@pytest.mark.parametrize("name", ["a,b.py", "a[x].py", "A.py"])
def test_a_teams_check_with_a_name_that_hides_it_is_refused(
    name: str,
    fork: Path,
    gate: Callable[..., tuple[int, str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (fork / "policies" / name).write_text(OWN)
    assert gate()[0] == 2
    assert "must be called like a_check.py" in capsys.readouterr().err
