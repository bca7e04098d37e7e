import json

import pytest

from gristmill.cli.console import complain, print_json, say
from gristmill.contract.manifest import Counts


def test_words_go_to_stderr_and_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    say("x[1].jsonl and [bold]not bold[/]")
    complain("a\n  b [z-a]")
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "x[1].jsonl and [bold]not bold[/]\nerror: a\n  b [z-a]\n"


@pytest.mark.parametrize("odd", ["C:\\[x]", "a\\", "[", "]", "[/]", "\\[bold]x[/bold]", ":smile:"])
def test_odd_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], odd: str) -> None:
    say(odd)
    assert capsys.readouterr().err == f"{odd}\n"


def test_long_lines_are_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    say("x " * 300)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_json_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(Counts(records=1, ok=1))
    out, err = capsys.readouterr()
    assert json.loads(out)["records"] == 1
    assert err == ""
