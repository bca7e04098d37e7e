"""Attributes as Terraform takes them: a number or a boolean may also be written as a text."""

from policies.reading.stack import CannotTellError, literal


def truth(value: object, what: str) -> bool:
    """Absent is false. Raises CannotTellError where it is neither true nor false."""
    known = literal(value, what)
    if known is None:
        return False
    spelled = str(known).lower()
    if spelled not in ("true", "false"):
        raise CannotTellError(f"{what} is {value!r}, neither true nor false")
    return spelled == "true"


def number(value: object, what: str) -> float:
    """Raises CannotTellError where it is none."""
    known = literal(value, what)
    if isinstance(known, int | float | str) and not isinstance(known, bool):
        try:
            return float(known)
        except ValueError:
            pass
    raise CannotTellError(f"{what} is {value!r}, not a number")
