"""A fault planted into the stacks of the shipped blueprints is found by the check for it."""

from collections.abc import Callable
from pathlib import Path

from policies.check import PREFIX, SHARED, load_checks
from policies.scan import scan_all
from tests.unit.policies.case import Trees
from tests.unit.policies.test_checks import TRIED, cases

PLAIN = "nothing-planted"


def test_the_gate_finds_each_planted_fault_through_checkov(
    environment: Path,
    shipped: Callable[[], Trees],
    write_app: Callable[[str, Trees], Path],
) -> None:
    folders = {PLAIN: write_app(PLAIN, shipped())}
    for name in TRIED:
        trees = shipped()
        cases(name).plant(trees)
        folders[name] = write_app(name, trees)
    ids = {loaded.file.stem: loaded.id for loaded in load_checks(SHARED)}
    said = scan_all(environment / "bin" / "checkov", folders, SHARED, PREFIX, list(ids.values()))
    failed = {app: {r.check for r in records if not r.passed} for app, records in said.items()}
    assert failed[PLAIN] == set()
    assert {name for name in TRIED if ids[name] not in failed[name]} == set()
