"""Each way in which a finished run can be wrong is planted, and named by the proof."""

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from gristmill.contract import layout
from gristmill.contract.canonical import canonical_json, sha256
from gristmill.contract.shard import decode_page, encode_page
from gristmill.runtime.verdict import Gap
from tests.doubles.instant_clock import InstantClock
from tests.doubles.mill import Mill, blueprint, json_lines

TEXTS = [f"text {index}" for index in range(30)] + ["poison", "last"]
PART = layout.part_manifest(0, 1)
SHARD = layout.shard_manifest(0)
PAGE = layout.plan_page(0)
RESULT = layout.result(0, "results", "jsonl")


@pytest.fixture
def mill() -> Mill:
    """A finished run of two shards, with one rejected record in the second."""
    faults = {"faults": {"reject_containing": "poison"}}
    ready = Mill.planned(
        {"a.jsonl": json_lines(TEXTS[:20]), "b.jsonl": json_lines(TEXTS[20:])},
        InstantClock(),
        blueprint(faults, shard={"bytes": 500}),
    )
    anyio.run(ready.work)
    return ready


def delete(mill: Mill, key: str) -> None:
    del mill.run._objects[key]


def edit(mill: Mill, key: str, **changed: Any) -> None:
    """A manifest with some fields changed."""
    mill.run.put(key, canonical_json(json.loads(mill.run.get(key)) | changed))


def replan(mill: Mill, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """The plan's page with its lines changed."""
    lines = [json.loads(line) for line in mill.run.get(PAGE).splitlines()]
    change(lines)
    mill.run.put(PAGE, b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def rewrite_results(mill: Mill, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Results changed by one who also made the shard's manifest fit them."""
    body = b"".join(change(mill.output.get(RESULT).splitlines(keepends=True)))
    mill.output.put(RESULT, body)
    shard = json.loads(mill.run.get(SHARD))
    shard["results"][0] |= {"sha256": sha256(body), "bytes": len(body)}
    mill.run.put(SHARD, canonical_json(shard))


def first_data(mill: Mill) -> str:
    return str(json.loads(mill.run.get(PART))["files"][0]["key"])


def gap(mill: Mill, *, deep: bool = False) -> Gap:
    verdict = mill.verify(deep=deep)
    assert len(verdict.gaps) == 1, verdict.gaps
    return verdict.gaps[0]


def test_a_finished_run_is_sound_and_its_numbers_add_up(mill: Mill) -> None:
    verdict = mill.verify(deep=True)
    assert verdict.gaps == []
    assert (verdict.objects, verdict.shards, verdict.parts) == (2, 2, 5)
    assert (verdict.counts.records, verdict.counts.ok, verdict.counts.rejected_total) == (32, 31, 1)
    # Part results; a part's rejected and outcomes; results; dead letter.
    assert verdict.files == 5 + 2 + 2 + 1
    assert verdict.repeated_ids == 0


def test_a_deleted_part_manifest(mill: Mill) -> None:
    delete(mill, PART)
    assert gap(mill) == Gap("shard 0 part 1", "has no manifest, though a later part has one")


def test_the_last_part_manifest_deleted(mill: Mill) -> None:
    delete(mill, layout.part_manifest(0, 2))
    gaps = mill.verify().gaps
    assert gaps[0].where == "shard 0"
    assert gaps[0].what.startswith("is unfinished: 2 parts, the next begins at a.jsonl@")
    assert gaps[1] == Gap("shard 0", "its manifest does not sum up its parts")


def test_a_deleted_shard_manifest(mill: Mill) -> None:
    delete(mill, SHARD)
    assert gap(mill) == Gap("shard 0", "has no manifest")


def test_a_shard_nobody_began() -> None:
    fresh = Mill.planned({"a.jsonl": json_lines(TEXTS)}, InstantClock())
    assert gap(fresh) == Gap("shard 0", "was not begun")


def test_a_garbled_manifest(mill: Mill) -> None:
    mill.run.put(PART, b'{"spec": 1')
    found = gap(mill)
    assert found.where == f"memory://runs/mill/{PART}"
    assert "is no PartManifest of this version" in found.what


def test_truncated_part_data(mill: Mill) -> None:
    key = first_data(mill)
    mill.run.put(key, mill.run.get(key)[:-3])
    assert gap(mill) == Gap(f"memory://runs/mill/{key}", "its bytes changed (sha256 differs)")


def test_deleted_part_data(mill: Mill) -> None:
    key = first_data(mill)
    delete(mill, key)
    assert gap(mill) == Gap(f"memory://runs/mill/{key}", "is missing")


def test_a_changed_result(mill: Mill) -> None:
    mill.output.put(RESULT, mill.output.get(RESULT).replace(b"text 3", b"text 4"))
    assert gap(mill) == Gap(f"memory://out/{RESULT}", "its bytes changed (sha256 differs)")


def test_a_missing_result(mill: Mill) -> None:
    del mill.output._objects[RESULT]
    assert gap(mill) == Gap(f"memory://out/{RESULT}", "is missing")


def test_a_changed_dead_letter(mill: Mill) -> None:
    key = layout.dead_letter(1)
    mill.run.put(key, mill.run.get(key) + b"\n")
    assert gap(mill) == Gap(f"memory://runs/mill/{key}", "its bytes changed (sha256 differs)")


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[1], lines[0], *lines[2:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, lines[0]],
        lambda lines: [lines[0], *lines],
    ],
    ids=["swapped", "one-left-out", "one-added", "one-doubled"],
)
def test_results_that_are_not_those_of_the_parts(
    mill: Mill, change: Callable[[list[bytes]], list[bytes]]
) -> None:
    rewrite_results(mill, change)
    assert gap(mill) == Gap("shard 0", "its results do not hold the records of its parts, in order")


@pytest.mark.parametrize(
    ("key", "where", "what"),
    [
        (PART, "shard 0 part 1", "belongs to another RunSpec"),
        (SHARD, "shard 0", "its manifest belongs to another RunSpec"),
    ],
)
def test_a_manifest_of_another_run(mill: Mill, key: str, where: str, what: str) -> None:
    edit(mill, key, spec="0" * 64)
    assert gap(mill) == Gap(where, what)


@pytest.mark.parametrize(
    "changed", [{"first": 9}, {"start": {"split": 0, "position": 1}}], ids=["ordinal", "place"]
)
def test_a_part_that_does_not_follow_the_one_before(mill: Mill, changed: dict[str, Any]) -> None:
    edit(mill, PART, **changed)
    assert gap(mill) == Gap("shard 0 part 1", "does not begin where the part before it ends")


def test_a_part_that_ends_elsewhere(mill: Mill) -> None:
    edit(mill, PART, end={"split": 0, "position": 1})
    assert gap(mill) == Gap("shard 0 part 2", "does not begin where the part before it ends")


def test_counts_that_do_not_add_up(mill: Mill) -> None:
    counts = json.loads(mill.run.get(PART))["counts"]
    edit(mill, PART, counts=counts | {"ok": counts["ok"] - 1})
    said = {(found.where, found.what) for found in mill.verify().gaps}
    assert ("shard 0 part 1", "8 records, 7 ok + 0") in said
    assert ("shard 0 part 1", "its files do not hold as many records as it counts") in said
    assert ("shard 0", "its manifest does not sum up its parts") in said


@pytest.mark.parametrize("changed", [{"results": []}, {"dead_letter": None}])
def test_a_shard_manifest_that_names_no_file(mill: Mill, changed: dict[str, Any]) -> None:
    edit(mill, layout.shard_manifest(1), **changed)
    assert gap(mill) == Gap("shard 1", "its files do not hold as many records as it counts")


def test_a_last_part_that_stops_short(mill: Mill) -> None:
    last = layout.part_manifest(0, 2)
    edit(mill, last, end={"split": 0, "position": 5})
    assert gap(mill) == Gap("shard 0", "its last part does not reach its end")


def test_a_missing_split(mill: Mill) -> None:
    fresh = Mill.planned(
        {"a.jsonl": json_lines(TEXTS)}, InstantClock(), blueprint(shard={"bytes": 200})
    )
    shards = list(fresh.shards())
    cut = shards[1].splits[0]
    replan(fresh, lambda lines: lines[1].update(splits=[[0, cut.start + 10, cut.stop]]))
    assert fresh.verify().gaps[0] == Gap(
        "a.jsonl", f"positions {cut.start} to {cut.start + 10} are read never"
    )


def test_a_split_read_twice(mill: Mill) -> None:
    replan(mill, lambda lines: lines[0].update(splits=[[0, 0, 100], [0, 90, None]]))
    assert Gap("a.jsonl", "positions 90 to 100 are read twice") in mill.verify().gaps


def test_a_whole_object_read_twice(mill: Mill) -> None:
    replan(mill, lambda lines: lines[0].update(splits=[[0, 0, None], [0, 0, None]]))
    said = "is read to its end, and from position 0 on once more"
    assert Gap("a.jsonl", said) in mill.verify().gaps


def test_an_object_cut_short_by_the_plan(mill: Mill) -> None:
    size = mill.inputs.head("a.jsonl").size
    replan(mill, lambda lines: lines[0].update(splits=[[0, 0, 100]]))
    assert Gap("a.jsonl", f"is read to 100, and has {size} positions") in mill.verify().gaps


def test_an_object_left_out_of_the_plan(mill: Mill) -> None:
    replan(mill, list.pop)
    said = "does not hold the objects that were listed when the run began"
    assert Gap("plan", said) in mill.verify().gaps


def test_an_outcome_of_another_record_is_found_by_reading_the_input_again(mill: Mill) -> None:
    """Every manifest fits the data: only the input tells."""
    replace = b'{"id":"a.jsonl@0"', b'{"id":"a.jsonl@1"'
    key = json.loads(mill.run.get(layout.part_manifest(0, 0)))["files"][0]["key"]
    body = mill.run.get(key).replace(*replace)
    mill.run.put(key, body)
    part = json.loads(mill.run.get(layout.part_manifest(0, 0)))
    part["files"][0]["sha256"] = sha256(body)
    mill.run.put(layout.part_manifest(0, 0), canonical_json(part))
    rewrite_results(mill, lambda lines: [line.replace(*replace) for line in lines])
    assert mill.verify(deep=False).gaps == []
    assert gap(mill, deep=True) == Gap(
        "shard 0 a.jsonl@0", "this record has no outcome where it should be"
    )


def test_ids_that_repeat_are_counted_and_are_no_gap() -> None:
    named = {"kind": "jsonl", "id": "text"}
    mill = Mill.planned(
        {"a.jsonl": json_lines(["x", "y", "x", "x"])},
        InstantClock(),
        blueprint(input={"uri": "memory://in/", "format": named}),
    )
    anyio.run(mill.work)
    verdict = mill.verify(deep=True)
    assert verdict.gaps == []
    assert verdict.repeated_ids == 2


def test_a_page_that_is_decoded_and_encoded_is_the_same(mill: Mill) -> None:
    assert encode_page(decode_page(mill.run.get(PAGE))) == mill.run.get(PAGE)
