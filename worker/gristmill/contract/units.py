"""Bytes, durations and money: what a person writes, and what a person reads."""

import re
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

_BYTES: Final = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_QUANTITY: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_DURATION: Final = re.compile(r"\s*(?:\d+(?:\.\d+)?[smhd]\s*)+")
_DURATION_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def parse_bytes(value: object) -> int:
    """`64MiB`, `1.5 GB` or a whole number of bytes -> bytes.

    Raises ValueError naming the units allowed.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in _BYTES:
        raise ValueError("must be a size such as 64MiB, 1.5GB or a whole number of bytes")
    return int(float(match[1]) * _BYTES[match[2]])


def parse_seconds(value: object) -> float:
    """`90s`, `1h30m`, `6h` or a number of seconds -> seconds.

    Raises ValueError naming the units allowed.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, str) or _DURATION.fullmatch(value) is None:
        raise ValueError("must be a duration such as 90s, 1h30m, 6h, 2d or a number of seconds")
    return sum(float(n) * _SECONDS[unit] for n, unit in _DURATION_STEP.findall(value))


# What an editor accepts: the schema of what a person writes, not of what it becomes.
_BytesText = Annotated[str, Field(pattern=r"^\s*\d+(\.\d+)?\s*([KMGT]i?B|B)?\s*$")]
_SecondsText = Annotated[str, Field(pattern=r"^\s*(\d+(\.\d+)?[smhd]\s*)+$")]
Bytes = Annotated[int, BeforeValidator(parse_bytes, json_schema_input_type=int | _BytesText)]
Seconds = Annotated[
    float, BeforeValidator(parse_seconds, json_schema_input_type=float | _SecondsText)
]


def show_bytes(count: float) -> str:
    """Bytes -> `64.0 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def show_seconds(seconds: float) -> str:
    """Seconds -> `4.2 s`, `3 m 05 s` or `2 h 10 m`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} m"


def show_usd(usd: float) -> str:
    """Dollars -> `$1.23`, with four significant digits under a cent."""
    return f"${usd:,.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.4g}"
