import pytest

from gristmill.contract.blueprint import Errors
from gristmill.contract.errors import TooManyRejectedError
from gristmill.contract.manifest import Counts
from gristmill.contract.process import ExitCode
from gristmill.contract.record import RejectionClass
from gristmill.runtime.budget import ENOUGH_TO_JUDGE, check_rejected


def counts(rejected: int, records: int) -> Counts:
    return Counts(
        records=records,
        ok=records - rejected,
        rejected={RejectionClass.TOO_LONG: rejected} if rejected else {},
    )


@pytest.mark.parametrize(
    ("rejected", "records", "finished", "stops"),
    [
        (0, 0, True, False),
        (1, 100, True, False),
        (2, 100, True, True),
        (99, ENOUGH_TO_JUDGE - 1, False, False),
        (99, ENOUGH_TO_JUDGE, False, True),
        (10, ENOUGH_TO_JUDGE, False, False),
        (11, ENOUGH_TO_JUDGE, False, True),
    ],
)
def test_a_share_is_judged_at_the_end_or_once_enough_was_seen(
    rejected: int, records: int, finished: bool, stops: bool
) -> None:
    errors = Errors(max_failed_fraction=0.01)
    if not stops:
        check_rejected(errors, counts(rejected, records), finished=finished)
        return
    with pytest.raises(TooManyRejectedError, match=f"^{rejected} of "):
        check_rejected(errors, counts(rejected, records), finished=finished)


def test_a_number_is_judged_at_once() -> None:
    errors = Errors(max_failed_fraction=1, max_failed_records=2)
    check_rejected(errors, counts(2, 3), finished=False)
    with pytest.raises(TooManyRejectedError, match=r"3 records were rejected.*allows 2"):
        check_rejected(errors, counts(3, 3), finished=False)


def test_none_allowed_means_none() -> None:
    errors = Errors(max_failed_fraction=0, max_failed_records=0)
    check_rejected(errors, counts(0, 10), finished=True)
    with pytest.raises(TooManyRejectedError):
        check_rejected(errors, counts(1, 10**6), finished=False)


def test_the_sentence_says_the_classes_and_what_to_do() -> None:
    with pytest.raises(TooManyRejectedError) as stopped:
        check_rejected(Errors(), counts(5, 10), finished=True)
    said = str(stopped.value)
    assert "5 of 10 records were rejected (50.0%); errors.max_failed_fraction allows 1.0%" in said
    assert "By class: 5 too_long." in said
    assert "gristmill results RUN --rejected" in said
    assert "--set errors.max_failed_fraction=" in said
    assert stopped.value.exit_code is ExitCode.BAD_INPUT
