"""What a platform demands of blueprints, rule by rule."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gristmill.contract.load import load_blueprint
from policies.finding import CannotJudgeError, Finding
from policies.rules import judge_blueprint, load_rules

SHIPPED = load_rules(Path("policies/rules.yaml"))
EXAMPLE = Path("blueprints/embed-corpus/blueprint.yaml")


Judge = Callable[..., list[Finding]]


@pytest.fixture
def judged(tmp_path: Path) -> Judge:
    """The shipped rules against the shipped blueprint, with some text of it replaced."""

    def judge(*changes: tuple[str, str]) -> list[Finding]:
        text = EXAMPLE.read_text()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "blueprint.yaml"
        file.write_text(text)
        tree = load_blueprint(file).model_dump(mode="json")
        return judge_blueprint(SHIPPED, "blueprint.yaml", text, tree)

    return judge


def test_the_shipped_blueprint_keeps_the_shipped_rules(judged: Judge) -> None:
    assert judged() == []


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        ("budget: {max_usd: 200}\n", "", "BLUEPRINT_BUDGET", "budget.max_usd: is missing"),
        ("max_usd: 200", "max_usd: 2000", "BLUEPRINT_BUDGET", "got 2000, must be at most 1000"),
        ("owner: search-oncall", "", "BLUEPRINT_OWNER", "owner: is missing"),
        ("team: search\n", "", "BLUEPRINT_TEAM", "team: is missing"),
        ("data_class: internal", "", "BLUEPRINT_DATA_CLASS", "data_class: is missing"),
        ("class: internal", "class: secret", "BLUEPRINT_DATA_CLASS", "got 'secret', must be one"),
        ("max_workers: 40", "max_workers: 51", "BLUEPRINT_MAX_WORKERS", "at most 50 for team"),
        ("deadline: 6h", "", "BLUEPRINT_DEADLINE", "deadline: is missing"),
        (
            "class: internal",
            "class: restricted",
            "BLUEPRINT_NO_SPOT_FOR_RESTRICTED",
            "capacity.spot: must not be there where data_class is restricted",
        ),
    ],
)
def test_a_broken_rule_is_named_with_what_came(
    judged: Judge, old: str, new: str, check: str, said: str
) -> None:
    found = judged((old, new))
    assert check in [finding.check for finding in found]
    assert any(said in reason for finding in found for reason in finding.reasons), found


def test_a_team_without_a_cap_of_its_own_has_the_common_one(judged: Judge) -> None:
    found = judged(("team: search", "team: maps"))
    assert [finding.check for finding in found] == ["BLUEPRINT_MAX_WORKERS"]
    assert "at most 20 for team maps" in found[0].reasons[0]


def test_a_finding_points_at_the_line_of_the_key(judged: Judge) -> None:
    (found,) = judged(("max_workers: 40", "max_workers: 400"))
    line = 1 + next(
        n for n, text in enumerate(EXAMPLE.read_text().splitlines()) if "max_workers" in text
    )
    assert (found.places[0].file, found.places[0].line) == ("blueprint.yaml", line)


def test_restricted_data_may_run_on_demand(judged: Judge) -> None:
    assert judged(("class: internal", "class: restricted"), ("spot: {}, ", "")) == []


RULE = "{id: BLUEPRINT_X, path: team, why: because of this, remedy: do it like that"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: 1\nrules: []\n", "rules: Tuple should have at least 1 item"),
        (f"version: 1\nrules: [{RULE}}}]\n", "demands nothing"),
        (f"version: 1\nrules: [{RULE}, at_most_of_team: {{a: 1}}}}]\n", "demands nothing"),
        (
            f"version: 1\nrules: [{RULE}, presence: required}}, {RULE}, presence: required}}]\n",
            "BLUEPRINT_X is given twice",
        ),
        (f"version: 1\nrules: [{RULE}, presence: maybe}}]\n", "presence"),
        (f"version: 1\nrules: [{RULE}, at_most: .nan}}]\n", "at_most"),
        (f"version: 1\nrules: [{RULE}, at_most: 1, at_most: 9}}]\n", "gives 'at_most' twice"),
        (
            f"version: 1\nrules: [{RULE.replace('path: team', 'path: budgett')}, at_most: 1}}]\n",
            "budgett is no key of blueprint.yaml",
        ),
        (
            f"version: 1\nrules: [{RULE}, when: {{data_clas: [x]}}, presence: required}}]\n",
            "data_clas is no key",
        ),
        (
            f"version: 1\nrules: [{RULE}, when: {{data_class: []}}, presence: required}}]\n",
            "names no value",
        ),
        ("rules: {", "can't be read"),
    ],
)
def test_rules_that_cannot_be_read_are_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(text)
    with pytest.raises(CannotJudgeError) as refused:
        load_rules(tmp_path / "rules.yaml")
    assert said in str(refused.value)
