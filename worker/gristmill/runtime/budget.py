"""How many records may be rejected before a run stops."""

from gristmill.contract.blueprint import Errors
from gristmill.contract.errors import TooManyRejectedError
from gristmill.contract.manifest import Counts

ENOUGH_TO_JUDGE = 1000
"""Records seen before a share means anything; at the end any number is judged."""


def check_rejected(errors: Errors, counts: Counts, *, finished: bool) -> None:
    """Raises TooManyRejectedError, saying what came, what is allowed and what to do."""
    rejected, seen = counts.rejected_total, counts.records
    most = errors.max_failed_records
    if most is not None and rejected > most:
        raise TooManyRejectedError(
            f"{rejected:,} records were rejected; errors.max_failed_records allows {most:,}. "
            + _remedy(counts)
        )
    share = errors.max_failed_fraction
    if rejected > share * seen and (finished or seen >= ENOUGH_TO_JUDGE):
        raise TooManyRejectedError(
            f"{rejected:,} of {seen:,} records were rejected ({rejected / seen:.1%}); "
            f"errors.max_failed_fraction allows {share:.1%}. " + _remedy(counts)
        )


def _remedy(counts: Counts) -> str:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.rejected.items())
    return (
        f"By class: {reasons}. Everything finished is kept: look at the rejected records with "
        "`gristmill results RUN --rejected`, then mend the input, or allow more with "
        "`gristmill resume RUN --set errors.max_failed_fraction=…`"
    )
