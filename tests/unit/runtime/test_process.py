import json

import pytest

from gristmill.contract import process
from gristmill.contract.errors import ConfigError
from gristmill.contract.process import ExitCode
from gristmill.contract.run import Policy
from gristmill.runtime.process import Settings, main
from tests.doubles.mill import blueprint

LEAST = {process.ENV_RUN: "/runs/r", process.ENV_QUEUE: "local:/q"}


def test_the_least_is_a_run_and_a_queue() -> None:
    settings = Settings.from_environment(LEAST)
    assert (settings.run, settings.queue) == ("/runs/r", "local:/q")
    assert (settings.threads, settings.share, settings.policy) == (None, 1.0, None)
    assert settings.quiet is None
    assert settings.attempt != Settings.from_environment(LEAST).attempt


def test_everything_else_may_be_set() -> None:
    policy = Policy.of(blueprint())
    settings = Settings.from_environment(
        LEAST
        | {
            process.ENV_ATTEMPT: "mine",
            process.ENV_THREADS: "3",
            process.ENV_SHARE: "0.25",
            process.ENV_QUIET: "2.5",
            process.ENV_POLICY: policy.model_dump_json(),
        }
    )
    assert (settings.attempt, settings.threads, settings.share) == ("mine", 3, 0.25)
    assert (settings.quiet, settings.policy) == (2.5, policy)


@pytest.mark.parametrize("name", LEAST)
def test_a_variable_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{name} is not set; a worker is started by"):
        Settings.from_environment({k: v for k, v in LEAST.items() if k != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [(process.ENV_THREADS, "two"), (process.ENV_SHARE, "half"), (process.ENV_POLICY, "{")],
)
def test_a_variable_that_is_wrong_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: got '{value}'"):
        Settings.from_environment(LEAST | {name: value})


def test_a_worker_started_by_hand_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(process.ENV_RUN, raising=False)
    assert main() is ExitCode.CONFIG
    event = json.loads(capsys.readouterr().err)
    assert event["event"] == "ended"
    assert event["message"].startswith("GRISTMILL_RUN is not set")
