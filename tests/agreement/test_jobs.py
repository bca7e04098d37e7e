"""What infrastructure tells a worker, and what a worker takes and answers: one language."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gristmill.contract import deployment, process
from gristmill.contract.failure import CLASS_OF, RESTARTS
from gristmill.contract.process import ExitCode
from gristmill.runtime.process import Settings
from infra.retries import RETRIED, retry_rules
from infra.signals import SIGNALS
from tests.unit.infra.choices import maximal_blueprint, maximal_platform
from tests.unit.infra.synthesized import Synthesized, synthesized

RUNTIME = Path("worker/gristmill/runtime")


@pytest.fixture(scope="module")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    from infra.team import resolve

    platform = maximal_platform()
    teams = resolve(platform, [("blueprint.yaml", maximal_blueprint())])
    return synthesized(tmp_path_factory.mktemp("cdktf.out"), platform, teams)


def environment(stacks: Synthesized, definition: str) -> dict[str, str]:
    return {e["name"]: e["value"] for e in stacks.container(definition)["environment"]}


def names() -> Iterator[str]:
    for module in (process, deployment):
        yield from (v for k, v in vars(module).items() if k.startswith("ENV_"))


@pytest.mark.parametrize("definition", ["mill-worker", "mill-coordinator"])
def test_every_variable_of_ours_is_one_that_the_contract_names(
    stacks: Synthesized, definition: str
) -> None:
    ours = {name for name in environment(stacks, definition) if name.startswith("GRISTMILL_")}
    assert ours <= set(names())


def test_a_worker_starts_with_what_its_definition_and_its_run_give(stacks: Synthesized) -> None:
    given = environment(stacks, "mill-worker") | {process.ENV_RUN: "s3://runs/one"}
    settings = Settings.from_environment(given)
    assert settings.run == "s3://runs/one"
    assert settings.queue.startswith("sqs:")


@pytest.mark.parametrize(
    ("definition", "command"), [("mill-worker", "worker"), ("mill-coordinator", "run")]
)
def test_a_definition_runs_a_command_that_exists(
    stacks: Synthesized, definition: str, command: str
) -> None:
    from gristmill.cli.main import app

    assert stacks.container(definition)["command"] == ["gristmill", command]
    assert command in {registered.name for registered in app.registered_commands}


@pytest.mark.parametrize("code", ExitCode)
def test_an_ending_is_retried_exactly_when_another_machine_can_do_better(code: ExitCode) -> None:
    first = next(
        rule for rule in retry_rules() if rule.exit_code == str(int(code)) or rule.reason == "*"
    )
    assert first.action == ("RETRY" if code in RETRIED else "EXIT")


def test_a_cloud_retries_what_one_machine_does_but_storage_for_which_batch_has_no_rule_left() -> (
    None
):
    restarted = {code for code, failure in CLASS_OF.items() if failure in RESTARTS}
    assert set(RETRIED) == restarted - {ExitCode.STORAGE}
    assert len(retry_rules()) == 5


def test_rules_are_what_aws_batch_takes() -> None:
    rules = retry_rules()
    assert len(rules) <= 5
    for rule in rules:
        for text in (rule.reason, rule.status_reason):
            assert text is None or re.fullmatch(r"[A-Za-z0-9.:\s]*\*?", text)
    assert rules[-1].action == "EXIT"
    assert rules[-1].reason == "*"


def test_a_definitions_rules_are_those_rules(stacks: Synthesized) -> None:
    for definition in stacks.all("aws_batch_job_definition"):
        rendered = [
            (r["action"], r.get("on_exit_code"), r.get("on_reason"), r.get("on_status_reason"))
            for r in definition["retry_strategy"]["evaluate_on_exit"]
        ]
        assert rendered == [
            (r.action, r.exit_code, r.reason, r.status_reason) for r in retry_rules()
        ]


def test_every_number_is_read_from_an_event_that_the_worker_says() -> None:
    source = "\n".join(path.read_text() for path in sorted(RUNTIME.glob("*.py")))
    for signal in SIGNALS:
        (event,) = re.findall(r'\$\.event = "(\w+)"', signal.pattern)
        assert f'"{event}"' in source, event


def test_every_number_has_a_field_that_the_event_carries() -> None:
    from gristmill.contract.manifest import Counts

    fields = {s.value for s in SIGNALS if s.value.startswith("$.")}
    known = {f"$.counts.{name}" for name in Counts.model_fields} | {"$.engine_seconds"}
    assert fields <= known
