"""Whatever is killed, and whenever: the same bytes, and little done twice."""

import random
import signal

import pytest

from gristmill.client.finish import verify
from gristmill.client.state import read_state
from gristmill.contract.process import ExitCode
from tests.chaos.conftest import PART, SETTINGS, TEXTS, Chaos

pytestmark = pytest.mark.chaos

SPEED = "task.engine.records_per_second=500"


def assert_whole(chaos: Chaos, expected: dict[str, bytes]) -> None:
    """The run is finished, its results are those of an undisturbed one, and the proof holds."""
    assert chaos.place.results() == expected
    verdict = verify(chaos.place.open(*SETTINGS, SPEED), deep=True)
    assert verdict.gaps == []
    assert verdict.counts.records == len(TEXTS)


def test_killed_ten_times_at_random_it_gives_the_same_bytes_and_does_little_twice(
    chaos: Chaos, expected: dict[str, bytes]
) -> None:
    moments = random.Random(20)
    for _ in range(10):
        chaos.start(workers=moments.choice((1, 1, 2)))
        assert chaos.after(moments.randint(2, 6)) is not None
        chaos.kill_all()
    chaos.start(workers=2)
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)
    assert chaos.killed >= 10
    assert chaos.inferred <= 1.02 * len(TEXTS) + PART * chaos.killed


def test_a_killed_worker_is_replaced_and_the_launcher_goes_on(
    chaos: Chaos, expected: dict[str, bytes]
) -> None:
    chaos.start(workers=2)
    for _ in range(2):
        event = chaos.after(7)
        assert event is not None
        victim = next(worker for worker in chaos.workers() if worker.pid == event.pid)
        chaos.kill(victim)
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)
    assert chaos.inferred <= 1.02 * len(TEXTS) + PART * 2


def test_workers_whose_launcher_is_killed_publish_and_end(
    chaos: Chaos, expected: dict[str, bytes]
) -> None:
    chaos.start(workers=2)
    assert chaos.after(9) is not None
    workers = chaos.workers()
    chaos.kill(chaos.launcher)
    assert all(worker.wait() in (None, ExitCode.RECLAIMED) for worker in workers)
    chaos.collect()
    # What was begun was published: nothing is done twice.
    state = read_state(chaos.place.open(*SETTINGS, SPEED).store)
    assert state.counts.records == chaos.inferred
    assert {attempt.exit_code for attempt in state.attempts} == {ExitCode.RECLAIMED}
    chaos.start(workers=2)
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)
    assert chaos.inferred == len(TEXTS)


def test_a_run_started_again_while_orphans_still_work_is_one_run(
    chaos: Chaos, expected: dict[str, bytes]
) -> None:
    chaos.start(workers=2)
    assert chaos.after(5) is not None
    chaos.kill(chaos.launcher)
    chaos.start(workers=2)
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda sign: sign.name)
def test_a_signal_publishes_what_was_begun_and_says_how_to_go_on(
    chaos: Chaos, expected: dict[str, bytes], sign: signal.Signals
) -> None:
    chaos.start(workers=2)
    assert chaos.after(9) is not None
    chaos.launcher.send_signal(sign)
    assert chaos.finish() == ExitCode.RECLAIMED
    said = chaos.stderr()
    assert "stopped; everything finished is kept" in said
    assert f"to go on: gristmill resume {chaos.place.folder}/runs/r" in said
    state = read_state(chaos.place.open(*SETTINGS, SPEED).store)
    assert 0 < state.counts.records == chaos.inferred < len(TEXTS)
    chaos.start(workers=1)
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)
    assert chaos.inferred == len(TEXTS)


def test_a_worker_told_to_stop_is_replaced(chaos: Chaos, expected: dict[str, bytes]) -> None:
    """As when a cloud takes back one of several machines."""
    chaos.start(workers=2)
    event = chaos.after(7)
    assert event is not None
    next(worker for worker in chaos.workers() if worker.pid == event.pid).terminate()
    assert chaos.finish() == ExitCode.DONE, chaos.stderr()
    assert_whole(chaos, expected)
    assert chaos.inferred == len(TEXTS)
