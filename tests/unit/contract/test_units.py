import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.contract.units import (
    parse_bytes,
    parse_seconds,
    show_bytes,
    show_seconds,
    show_usd,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (64, 64),
        ("64", 64),
        ("64B", 64),
        ("64MiB", 64 * 2**20),
        ("1.5 GB", 1_500_000_000),
        (" 2 KiB ", 2048),
        ("1TB", 10**12),
        ("0.5TiB", 2**39),
    ],
)
def test_a_size_is_read_as_a_person_writes_it(text: object, count: int) -> None:
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "64 mib", "MiB", "-1MB", "1e6", "1,5GB", True, None, 1.5, []])
def test_what_is_no_size_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match=r"such as 64MiB, 1\.5GB"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(90, 90), (1.5, 1.5), ("90s", 90), ("1h30m", 5400), ("6h", 21600), ("2d", 172800),
     ("1h 30m 5.5s", 5405.5)],
)  # fmt: skip
def test_a_duration_is_read_as_a_person_writes_it(text: object, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "6", "6 hours", "h", "-6h", True, None, ["6h"]])
def test_what_is_no_duration_is_refused_with_an_example(text: object) -> None:
    with pytest.raises(ValueError, match="such as 90s, 1h30m, 6h, 2d"):
        parse_seconds(text)


@given(st.integers(0, 2**50))
def test_a_whole_number_of_bytes_is_itself(count: int) -> None:
    assert parse_bytes(count) == parse_bytes(str(count)) == parse_bytes(f"{count}B") == count


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (64 * 2**20, "64.0 MiB"),
     (3 * 2**30, "3.0 GiB"), (5 * 2**42, "20.0 TiB")],
)  # fmt: skip
def test_bytes_are_shown_in_the_unit_that_fits(count: int, text: str) -> None:
    assert show_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (4.24, "4.2 s"), (185, "3 m 05 s"), (3599.6, "1 h 00 m"), (7800, "2 h 10 m")],
)
def test_seconds_are_shown_in_the_units_that_fit(seconds: float, text: str) -> None:
    assert show_seconds(seconds) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0.00"),
        (1.234, "$1.23"),
        (1234.5, "$1,234.50"),
        (0.1, "$0.10"),
        (0.00123456, "$0.001235"),
    ],
)
def test_small_sums_keep_four_digits(usd: float, text: str) -> None:
    assert show_usd(usd) == text
