from gristmill.contract.failure import (
    CLASS_OF,
    LONGEST_BACKOFF_SECONDS,
    RESTARTS,
    FailureClass,
    backoff,
)
from gristmill.contract.process import ExitCode


def test_every_ending_but_success_has_its_class() -> None:
    assert set(CLASS_OF) == set(ExitCode) - {ExitCode.DONE}


def test_what_ends_the_same_way_again_is_not_begun_again() -> None:
    for failure in (FailureClass.BUG, FailureClass.BAD_SPEC, FailureClass.BAD_RECORD):
        assert failure not in RESTARTS


def test_waiting_doubles_up_to_a_limit_and_half_of_it_is_chance() -> None:
    assert [backoff(deaths, 1.0) for deaths in (1, 2, 3, 4)] == [0.25, 0.5, 1.0, 2.0]
    assert backoff(3, 0.0) == 0.5
    assert backoff(1000, 1.0) == LONGEST_BACKOFF_SECONDS
