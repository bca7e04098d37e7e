from pathlib import Path

import pytest

from tests.docs.console import Step, needs_torch, steps

PAGE = """\
Text.

```console
$ echo one; echo two
one
two
$ true
```

<!-- not run: it takes a person -->
```console
$ gristmill think
```

<!-- torch -->
```console
$ echo three
```
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_each_command_comes_with_the_lines_below_it(page: Path) -> None:
    assert steps(page)[:2] == [Step("echo one; echo two", ("one", "two")), Step("true", ())]


def test_a_block_marked_not_run_is_left_out(page: Path) -> None:
    assert [step.command for step in steps(page)] == ["echo one; echo two", "true", "echo three"]


def test_a_page_says_whether_it_needs_torch(page: Path) -> None:
    assert needs_torch(page)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (("a … c",), "a b c\n"),
        (("…", "end"), "any\nlines\nend\n"),
        (("…", "end"), "end\n"),
        ((), "whatever\n"),
    ],
)
def test_an_ellipsis_stands_for_anything(shown: tuple[str, ...], printed: str) -> None:
    assert Step("x", shown).matches(printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (("a … c",), "a b\nc\n"),
        (("one",), "one\ntwo\n"),
        (("one", "…"), "two\n"),
        (("a.c",), "abc\n"),
    ],
)
def test_what_differs_does_not_match(shown: tuple[str, ...], printed: str) -> None:
    assert not Step("x", shown).matches(printed)
