"""Planning over files of one folder."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gristmill.client import plan as planning
from gristmill.client.plan import find_run, open_run, planned_shards, refuse_changed_input
from gristmill.contract import layout
from gristmill.contract.blueprint import Blueprint
from gristmill.contract.column import ColumnType
from gristmill.contract.errors import (
    BadInputError,
    ConfigError,
    SpecMismatchError,
    StorageError,
    UsageError,
)
from gristmill.store.open import open_store
from tests.doubles.folder_run import FolderRun
from tests.doubles.memory_store import MemoryStore
from tests.doubles.synthetic_listing import SyntheticListing

TEXTS = [f"text {index}" for index in range(50)]


@pytest.fixture
def place(tmp_path: Path) -> FolderRun:
    made = FolderRun(tmp_path)
    made.put("a.jsonl", TEXTS[:30])
    made.put("b.jsonl", TEXTS[30:])
    return made


def files(place: FolderRun) -> dict[str, bytes]:
    runs = place.folder / "runs"
    return {
        str(path.relative_to(runs)): path.read_bytes() for path in runs.rglob("*") if path.is_file()
    }


def test_a_run_is_planned_once_however_often_it_is_asked_for(place: FolderRun) -> None:
    first = place.open("shard.bytes=200")
    before = files(place)
    again = place.open("shard.bytes=200")
    assert (first.created, again.created) == (True, False)
    assert again.spec == first.spec
    assert again.plan == first.plan
    assert files(place) == before
    assert set(before) == {"r/run.json", "r/plan/plan.json", "r/plan/shards-00000.jsonl"}


def test_the_plan_holds_every_object_and_its_sizes(place: FolderRun) -> None:
    run = place.open("shard.bytes=200")
    shards = list(planned_shards(run.store, run.plan))
    assert [shard.index for shard in shards] == list(range(run.plan.shards))
    assert run.plan.objects == 2
    assert run.plan.bytes == sum(p.stat().st_size for p in (place.folder / "in").iterdir())


def test_a_plan_of_many_shards_lies_on_many_pages(
    place: FolderRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "PAGE_SHARDS", 3)
    run = place.open("shard.bytes=200")
    assert run.plan.shards > 3
    shards = list(planned_shards(run.store, run.plan))
    assert [shard.index for shard in shards] == list(range(run.plan.shards))


def test_a_run_without_a_name_is_called_after_what_decides_its_results(place: FolderRun) -> None:
    first = place.open(run=None).spec.run
    assert first.startswith("selftest-")
    assert place.open("errors.max_failed_fraction=1", run=None).spec.run == first
    assert place.open("part.records=7", run=None).spec.run != first


def test_run_in_the_output_stands_for_the_runs_name(place: FolderRun) -> None:
    run = place.open(output="out/{run}")
    assert run.spec.blueprint.output.uri == f"{place.folder}/out/r"
    assert not place.open(output="out/{run}").created


def test_a_policy_may_change_within_a_run(place: FolderRun) -> None:
    place.open()
    assert not place.open("errors.max_failed_fraction=0.9", "deadline=5h", "team=other").created


def test_a_changed_blueprint_is_refused_and_what_differs_is_named(place: FolderRun) -> None:
    place.open()
    with pytest.raises(SpecMismatchError) as refused:
        place.open("part.records=7", "task.engine.max_tokens=9")
    said = str(refused.value)
    assert "run r was begun with another blueprint or model" in said
    assert "give it another --run-id" in said
    assert "\n  part.records: the run has 2048, you gave 7" in said
    assert "\n  task.engine.max_tokens: the run has None, you gave 9" in said


def test_a_changed_limit_is_another_run(place: FolderRun) -> None:
    place.open(limit=5)
    with pytest.raises(SpecMismatchError, match="limit: the run has 5, you gave None"):
        place.open()


def test_changed_input_is_refused_and_named(place: FolderRun) -> None:
    run = place.open()
    place.put("a.jsonl", ["other"])
    place.put("c.jsonl", ["new"])
    (place.folder / "in" / "b.jsonl").unlink()
    for ask in (place.open, lambda: refuse_changed_input(run)):
        with pytest.raises(SpecMismatchError) as refused:
            ask()
        said = str(refused.value)
        assert "was begun with another input" in said
        assert "1 input object changed: a.jsonl" in said
        assert "1 input object added: c.jsonl" in said
        assert "1 input object gone: b.jsonl" in said


def test_input_that_has_not_changed_is_not_refused(place: FolderRun) -> None:
    refuse_changed_input(place.open())


def test_damaged_input_once_mended_may_have_the_name(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    path = place.put("a.parquet", b"PAR1 cut short")
    with pytest.raises(BadInputError, match=r"a\.parquet: has no valid footer"):
        place.open("input.format={kind: parquet}")
    assert not (tmp_path / "runs").exists()
    pq.write_table(pa.table({"text": TEXTS}), path)
    assert place.open("input.format={kind: parquet}").created


def test_a_missing_column_is_refused_before_the_run_has_a_name(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    pq.write_table(pa.table({"texte": TEXTS}), place.put("a.parquet", b""))
    with pytest.raises(ConfigError, match="has no column `text`; did you mean `texte`"):
        place.open("input.format={kind: parquet}")
    fitting = "input.format={kind: parquet, text: '{{ texte }}'}"
    assert place.open(fitting).created


def test_carried_columns_of_parquet_take_the_types_of_the_file(tmp_path: Path) -> None:
    place = FolderRun(tmp_path)
    table = pa.table({"text": TEXTS, "n": list(range(50))})
    pq.write_table(table, place.put("a.parquet", b""))
    run = place.open("input.format={kind: parquet}", "output.carry=[n, text]")
    assert [(c.name, c.type) for c in run.plan.carried] == [
        ("n", ColumnType.INT64),
        ("text", ColumnType.STRING),
    ]


def test_an_output_with_another_runs_results_is_refused(place: FolderRun) -> None:
    out = place.folder / "out"
    out.mkdir()
    (out / "notes.txt").write_text("harmless")
    place.open()
    (out / "results-000000.jsonl").write_text("{}\n")
    place.open()  # the same run's own
    with pytest.raises(ConfigError, match=r"already holds another run's results \(results-000000"):
        place.open(run="other")


@pytest.mark.parametrize(
    ("input_", "output", "what"),
    [
        ("in/", "in", "output.uri"),
        ("in/", "in/deeper/out", "output.uri"),
        ("in/*.jsonl", "in", "output.uri"),
        ("", "elsewhere/../out", "output.uri"),
        ("**/*.json", "out", "--runs"),
    ],
)
def test_a_place_inside_the_input_is_refused(
    place: FolderRun, input_: str, output: str, what: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^{what}: .* lies inside the input"):
        place.open(source=input_, output=output)


@pytest.mark.parametrize("output", ["in-out", "in2/x", "out", "in/_out", "in/.out"])
def test_a_place_beside_the_input_is_not_refused(place: FolderRun, output: str) -> None:
    assert place.open(output=output).created


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", ".hidden", "-x", "é", "x" * 129])
def test_a_name_that_is_no_key_is_refused(place: FolderRun, name: str) -> None:
    with pytest.raises(UsageError, match=r"--run-id .*: must be letters, digits"):
        place.open(run=name)


def test_a_run_is_found_by_its_name_or_its_place(place: FolderRun) -> None:
    run = place.open()
    runs = str(place.folder / "runs")
    for name in ("r", f"{runs}/r", f"{runs}/r/"):
        assert find_run(name, runs).spec == run.spec


def test_a_run_that_is_not_there_is_refused_with_where_it_was_looked_for(
    place: FolderRun,
) -> None:
    with pytest.raises(UsageError, match=rf"no run at {place.folder}/runs/x .*--runs or GRISTMILL"):
        find_run("x", f"{place.folder}/runs")


def test_a_run_that_died_while_planning_is_planned_by_the_same_command(place: FolderRun) -> None:
    place.open("shard.bytes=200")
    (place.folder / "runs/r" / layout.PLAN).unlink()
    with pytest.raises(UsageError, match="its plan is unfinished; repeat the `gristmill run`"):
        find_run("r", f"{place.folder}/runs")
    assert place.open("shard.bytes=200").plan.shards > 1
    assert find_run("r", f"{place.folder}/runs").plan.shards > 1


def test_a_run_of_another_version_is_named(place: FolderRun) -> None:
    place.open()
    path = place.folder / "runs/r" / layout.RUN
    path.write_text(json.dumps(json.loads(path.read_text()) | {"later": 1}))
    with pytest.raises(StorageError, match=r"r/run\.json: is no RunSpec of this version .*later"):
        place.open()


def test_a_limited_run_is_one_shard(place: FolderRun) -> None:
    assert place.open("shard.bytes=100", limit=5).plan.shards == 1


def test_two_who_plan_at_once_have_one_run(
    place: FolderRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both find no run; one is first; the other takes the first one's."""
    elect = planning._elect

    def late(*given: object) -> object:
        monkeypatch.setattr(planning, "_elect", elect)
        other = place.open()
        assert other.created
        return elect(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(planning, "_elect", late)
    run = place.open()
    assert not run.created
    assert run.plan.shards == len(list(planned_shards(run.store, run.plan)))


def test_100_000_objects_are_planned_from_their_listing_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listing, run = SyntheticListing(100_000, 10_000), MemoryStore("memory://runs/many")
    monkeypatch.setattr(
        planning, "open_store", lambda uri: run if uri.endswith("many") else stores(uri)
    )

    def stores(uri: str) -> object:
        return listing if uri == "memory://in" else open_store(uri)

    blueprint = Blueprint.model_validate(
        {
            "version": 1,
            "name": "many",
            "task": {"kind": "transform", "engine": {"kind": "echo"}},
            "input": {"uri": "memory://in/", "format": {"kind": "jsonl"}},
            "output": {"uri": "memory://out-many"},
        }
    )
    told: list[tuple[str, int]] = []
    found = open_run(
        blueprint, "memory://runs", "many", progress=lambda what, n: told.append((what, n))
    )
    assert found.plan.objects == 100_000
    assert found.plan.bytes == 100_000 * 10_000
    assert found.plan.shards == pytest.approx(10**9 / (64 * 2**20), abs=1)
    assert ("objects listed", 50_000) in told
    assert sum(len(s.objects) for s in planned_shards(found.store, found.plan)) == 100_000
