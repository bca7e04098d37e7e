"""What is excused, and which waivers are findings themselves."""

import datetime
from pathlib import Path

import pytest

from policies.finding import CannotJudgeError, Finding, Place
from policies.waivers import LONGEST, Waivers

TODAY = datetime.date(2026, 12, 7)
STACKS = ["team-data", "team-compute"]
ENTRY = """
  - check: {check}
    path: "{path}"
    owner: platform
    reason: This is how it must be in this test.
    expires: {expires}
"""


def waivers(
    folder: Path,
    path: str = "*-data/*/bucket",
    expires: datetime.date = TODAY,
    check: str = "CKV_AWS_1",
) -> Waivers:
    file = folder / "waivers.yaml"
    entry = ENTRY.format(check=check, path=path, expires=expires)
    file.write_text(f"version: 1\nwaivers:\n{entry}")
    return Waivers.load(file)


def finding(where: str = "team-data/runs/bucket", check: str = "CKV_AWS_1") -> Finding:
    return Finding(check, "A thing is so", where, (Place("infra/x.py", 1),))


def test_a_waiver_excuses_its_check_at_its_place_and_nothing_else(tmp_path: Path) -> None:
    findings = [
        finding(),
        finding(check="CKV_AWS_2"),
        finding("team-data/runs/bucket/deeper"),
        finding("team-compute/runs/bucket"),
        finding("team-data/runs/policy"),
    ]
    standing, excused = waivers(tmp_path).apply(findings, STACKS, TODAY)
    assert excused == findings[:1]
    assert standing == findings[1:]


@pytest.mark.parametrize(
    ("days", "check"),
    [(-1, "WAIVER_EXPIRED"), (LONGEST.days + 1, "WAIVER_TOO_LONG")],
)
def test_a_waiver_that_is_over_or_too_long_excuses_nothing_and_fails(
    days: int, check: str, tmp_path: Path
) -> None:
    expires = TODAY + datetime.timedelta(days=days)
    standing, excused = waivers(tmp_path, expires=expires).apply([finding()], STACKS, TODAY)
    assert excused == []
    assert [f.check for f in standing] == ["CKV_AWS_1", check]
    assert standing[1].places == (Place(str(tmp_path / "waivers.yaml"), 4),)


@pytest.mark.parametrize("days", [0, LONGEST.days])
def test_a_waiver_holds_on_its_first_and_last_day(days: int, tmp_path: Path) -> None:
    expires = TODAY + datetime.timedelta(days=days)
    assert waivers(tmp_path, expires=expires).apply([finding()], STACKS, TODAY) == ([], [finding()])


def test_a_waiver_that_excuses_nothing_fails(tmp_path: Path) -> None:
    standing, _ = waivers(tmp_path).apply([], STACKS, TODAY)
    assert [f.check for f in standing] == ["WAIVER_UNUSED"]


def test_a_waiver_for_a_stack_that_not_every_platform_has_may_rest(tmp_path: Path) -> None:
    some = waivers(tmp_path, path="*-data/xyz")
    optional = tmp_path / "optional.yaml"
    optional.write_text((tmp_path / "waivers.yaml").read_text() + "    stack: optional\n")
    assert Waivers.load(optional).apply([], ["team-compute"], TODAY) == ([], [])
    for resting, stacks in ((Waivers.load(optional), STACKS), (some, ["team-compute"])):
        standing, _ = resting.apply([], stacks, TODAY)
        assert [f.check for f in standing] == ["WAIVER_UNUSED"]


@pytest.mark.parametrize(
    "path",
    [
        *("*", "*/runs/bucket", "*-data/*", "-*/bucket", "*-data/**", "*a/*t", "?*/?*"),
        *("[!.]*/[!.]*", "*-data/b cket", "*-data//bucket"),
    ],
)
def test_a_waiver_cannot_excuse_a_whole_stack_or_every_stack(path: str, tmp_path: Path) -> None:
    with pytest.raises(CannotJudgeError, match=r"waivers\.0\.path: .*must name the stack"):
        waivers(tmp_path, path=path)


def test_a_rule_is_excused_for_one_blueprint_only(tmp_path: Path) -> None:
    waivers(tmp_path, path="blueprints/maps/blueprint.yaml")
    with pytest.raises(CannotJudgeError, match="must name one blueprint"):
        waivers(tmp_path, path="blueprints/*/blueprint.yaml")


@pytest.mark.parametrize("check", ["CKV_*", "'*'", "''"])
def test_a_waiver_names_one_check(check: str, tmp_path: Path) -> None:
    with pytest.raises(CannotJudgeError, match=r"waivers\.0\.check"):
        waivers(tmp_path, check=check)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: 1\nwaivers: [{check: A_B}]\n", "waivers.0.owner: Field required"),
        ("version: 1\nwaivers: []\nskip: all\n", "skip: Extra inputs"),
        ("version: [\n", "can't be read"),
        ("", "must be a mapping"),
        ("version: 1\nwaivers: []\nwaivers: []\n", "gives 'waivers' twice"),
        ("a: &a {waivers: []}\n<<: *a\nversion: 1\n", "merges another mapping"),
        (
            f"version: 1\nwaivers:{ENTRY.format(check='A_B', path='aaa/bbb', expires=1811721600)}",
            "waivers.0.expires: Input should be a valid date",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "waivers.yaml").write_text(text)
    with pytest.raises(CannotJudgeError) as refused:
        Waivers.load(tmp_path / "waivers.yaml")
    assert said in str(refused.value)


def test_the_shipped_waivers_are_few_and_each_is_valid() -> None:
    shipped = Waivers.load(Path("policies/waivers.yaml")).waivers
    assert len(shipped) <= 12
    assert len({(w.check, w.path) for w in shipped}) == len(shipped)
