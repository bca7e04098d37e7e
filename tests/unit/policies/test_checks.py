"""Every check of policies/checks: what it passes, what it fails, and when it can't tell.

Its cases lie in cases/<its file>.py. A check without cases fails here; so do cases without one.
"""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from policies.check import SHARED, Answer, LoadedCheck, load_checks
from policies.reading.stack import App, Resource
from tests.unit.policies.case import Cases, Trees

HERE = Path(__file__).parent / "cases"
CHECKS = {loaded.file.stem: loaded for loaded in load_checks(SHARED)}
TRIED = sorted(path.stem for path in HERE.glob("*.py"))


def cases(name: str) -> Cases:
    found = importlib.import_module(f"tests.unit.policies.cases.{name}").CASES
    assert isinstance(found, Cases)
    return found


def judged(name: str, trees: Trees) -> tuple[Answer, tuple[str, ...]]:
    wanted = cases(name)
    app = App.of(trees, wanted.choices)
    verdict = CHECKS[name].verdict(_resource(app, wanted.judged))
    return verdict.answer, verdict.reasons


def _resource(app: App, address: str) -> Resource:
    return next(r for r in app.resources() if r.address == address)


def test_each_check_has_cases_and_each_case_a_check() -> None:
    assert sorted(CHECKS) == TRIED


@pytest.mark.parametrize("name", TRIED)
def test_a_check_passes_what_is_right(name: str) -> None:
    assert cases(name).passes
    for trees in cases(name).passes:
        assert judged(name, trees) == ("pass", ())


@pytest.mark.parametrize("name", TRIED)
def test_a_check_fails_what_is_wrong_and_says_why(name: str) -> None:
    assert cases(name).fails
    for trees in cases(name).fails:
        answer, reasons = judged(name, trees)
        assert answer == "fail", trees
        assert all(reasons)


@pytest.mark.parametrize("name", TRIED)
def test_a_check_says_when_it_cannot_tell(name: str) -> None:
    assert cases(name).cannot_tell
    for trees in cases(name).cannot_tell:
        answer, reasons = judged(name, trees)
        assert answer == "cannot tell", (trees, reasons)
        assert not reasons[0].startswith("the check broke"), reasons


@pytest.mark.parametrize("loaded", CHECKS.values(), ids=CHECKS)
def test_a_check_tells_a_person_what_to_do(loaded: LoadedCheck) -> None:
    check = loaded.check
    assert check.source.startswith("https://")
    assert check.risk.endswith(".")
    assert check.remedy.endswith(".")
    assert not check.title.endswith(".")
    assert len(check.title) <= 90


@pytest.mark.parametrize("name", TRIED)
def test_the_shipped_stacks_pass(name: str, shipped: Callable[[], Trees]) -> None:
    assert faults(name, shipped()) == []


@pytest.mark.parametrize("name", TRIED)
def test_a_fault_planted_in_the_shipped_stacks_is_found(
    name: str, shipped: Callable[[], Trees]
) -> None:
    trees = shipped()
    cases(name).plant(trees)
    assert faults(name, trees)


def faults(name: str, trees: Trees) -> list[str]:
    """What the check says against any resource of its types."""
    app = App.of(trees, cases(name).choices)
    found = []
    for type_ in CHECKS[name].check.resources:
        for resource in app.resources(type_):
            verdict = CHECKS[name].verdict(resource)
            if verdict.answer != "pass":
                found.append(f"{resource.path}: {verdict.answer}: {verdict.reasons}")
    return found
