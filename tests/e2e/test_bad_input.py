"""Whatever the input holds, a run ends in one clear sentence or with one outcome a record."""

import gzip
import json
import resource
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from gristmill.client.progress import Progress
from gristmill.contract.process import ExitCode
from tests.e2e.conftest import Desk

GOOD = '{"text": "good"}\n'


def test_one_file_with_every_kind_of_bad_line_gives_one_outcome_a_record(desk: Desk) -> None:
    big, nul = 2**70, "\\u0000"
    lines = [
        b'\xef\xbb\xbf{"text": "after a byte order mark"}\r\n',
        b"\n",
        b"   \r\n",
        b'{"text": "carriage return"}\r\n',
        b'{"text": "not utf-8 \xff"}\n',
        b'{"text": "cut short\n',
        b'{"text": "a raw \x00 NUL"}\n',
        b'{"text": "twice", "text": "twice"}\n',
        b'{"text": "deep", "x": {"y": 1, "y": 2}}\n',
        b'{"text": NaN}\n',
        b'{"text": "and", "x": Infinity}\n',
        f'{{"text": "big {big}", "n": {big}}}\n'.encode(),
        f'{{"text": "escaped {nul} NUL"}}\n'.encode(),
        b'["text"]\n',
        b'"text"\n',
        b"null\n",
        b'{"other": 1}\n',
        b'{"text": null}\n',
        b'{"text": ""}\n',
        b'{"text": {"a": 1}}\n',
        b'{"text": "no newline at the end"}',
    ]
    desk.put("a.jsonl", b"".join(lines))
    assert desk.run(errors__max_failed_fraction=1, input__format__text="'{{ text }}'").code == 0
    assert desk.texts()[:4] == [
        "after a byte order mark",
        "carriage return",
        f"big {big}",
        "escaped \0 NUL",
    ]
    assert desk.texts()[-1] == "no newline at the end"
    rejected = desk.rejected()
    said = [f"{letter['class']}: {letter['message']}" for letter in rejected]
    assert [line.partition(": ")[0] for line in said[:6]] == ["unparsable"] * 6
    for part in (
        "not valid UTF-8: byte 0xff at 20 of the line",
        "not valid JSON",
        "a NUL byte at 16 of the line",
        "key `text` is given twice in one object",
        "key `y` is given twice in one object",
        "the line is a list; it must be a JSON object",
        "the line is a string",
        "the line is null",
        "missing_field: ",
    ):
        assert any(part in line for line in said), part
    proof = desk.sound()
    assert proof["records"] == len(lines) - 2
    assert proof["rejected"] == len(rejected)


def test_a_line_over_the_limit_is_rejected_unread(desk: Desk) -> None:
    with desk.put("a.jsonl", GOOD).open("ab") as out:
        out.write(b'{"text": "' + b"x" * 30 * 10**6 + b'"}\n' + GOOD.encode())
    assert desk.run(errors__max_failed_fraction=0.5).code == 0
    (letter,) = desk.rejected()
    assert letter["class"] == "too_large"
    assert letter["message"] == ("the record has 28.6 MiB, over input.max_record_bytes (16.0 MiB)")
    assert len(letter["record"]) == 4096
    assert desk.texts() == ["good", "good"]
    desk.sound()


@pytest.mark.parametrize(
    ("files", "source", "sentence"),
    [
        ({"a.jsonl": b""}, "in", "in/: holds nothing to read; left out: 1 empty (zero bytes)"),
        ({"a.jsonl": b""}, "in/a.jsonl", "in/a.jsonl: holds nothing to read; left out: 1 empty"),
        ({"a.jsonl": GOOD}, "in/*.csv", "in/*.csv: matches no object; check the path or the glob"),
        ({}, "nowhere", "nowhere: matches no object; check the path or the glob"),
        ({"_SUCCESS": b"x"}, "in", "in/: holds nothing to read; left out: 1 hidden or marker"),
        ({"a.txt": b"x"}, "in", "1 other suffix (a folder of jsonl input takes .jsonl"),
    ],
)
def test_nothing_to_read_is_bad_input(
    desk: Desk, files: dict[str, bytes | str], source: str, sentence: str
) -> None:
    for name, body in files.items():
        desk.put(name, body)
    said = desk.run(source=source)
    assert said.code == ExitCode.BAD_INPUT
    assert sentence in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (desk.folder / "runs").exists()


def packed(kind: str) -> bytes:
    body = b"".join(json.dumps({"text": f"text {n}"}).encode() + b"\n" for n in range(3000))
    return gzip.compress(body) if kind == "gz" else zstandard.compress(body)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_compressed_data_cut_short_is_bad_input_and_once_mended_a_new_run(
    desk: Desk, kind: str
) -> None:
    desk.put("a.jsonl", GOOD)
    desk.put(f"b.jsonl.{kind}", packed(kind)[:-9])
    said = desk.run()
    assert said.code == ExitCode.BAD_INPUT
    assert f"b.jsonl.{kind}: its " in said.err
    assert "cut short" in said.err
    assert "gristmill resume" in said.err
    desk.put(f"b.jsonl.{kind}", packed(kind))
    changed = desk.run()
    assert changed.code == ExitCode.BAD_SPEC
    assert f"1 input object changed: b.jsonl.{kind}" in changed.err


def test_several_gzip_members_are_one_file(desk: Desk) -> None:
    desk.put("a.jsonl.gz", gzip.compress(GOOD.encode()) * 3)
    assert desk.run().code == 0
    assert desk.texts() == ["good"] * 3


def table(desk: Desk, name: str, texts: list[str], **options: int) -> Path:
    path = desk.put(name, b"")
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path, **options)
    return path


def test_a_parquet_file_cut_short_takes_no_name_and_once_mended_runs(desk: Desk) -> None:
    path = table(desk, "a.parquet", ["one", "two"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    said = desk.run(input__format="{kind: parquet}")
    assert said.code == ExitCode.BAD_INPUT
    assert "a.parquet: has no valid footer" in said.err
    assert "upload it whole" in said.err
    path.write_bytes(whole)
    assert desk.run(input__format="{kind: parquet}").code == 0
    assert desk.texts() == ["one", "two"]


def test_a_row_group_that_is_damaged_is_bad_input(desk: Desk) -> None:
    path = table(desk, "a.parquet", [f"text {n}" * 50 for n in range(100)], row_group_size=50)
    body = bytearray(path.read_bytes())
    body[10:400] = b"\xff" * 390
    path.write_bytes(body)
    said = desk.run(input__format="{kind: parquet}")
    assert said.code == ExitCode.BAD_INPUT
    assert "a.parquet: row group 0 of 2 can't be read" in said.err


def test_a_file_without_row_groups_is_no_record(desk: Desk) -> None:
    table(desk, "a.parquet", [])
    table(desk, "b.parquet", ["one"])
    assert desk.run(input__format="{kind: parquet}").code == 0
    assert desk.texts() == ["one"]
    assert desk.sound()["objects"] == 2


def test_files_without_a_single_record_are_bad_input(desk: Desk) -> None:
    table(desk, "a.parquet", [])
    said = desk.run(input__format="{kind: parquet}")
    assert said.code == ExitCode.BAD_INPUT
    assert "in/: its objects hold no record" in said.err


def test_ragged_rows_are_rejected_and_quoted_newlines_are_not(desk: Desk) -> None:
    desk.put("a.csv", 'n,text\n1,"two\nlines"\n2\n3,a,b\n\n4,"say ""it"""\r\n5,last')
    assert desk.run(input__format="{kind: csv}", errors__max_failed_fraction=1).code == 0
    assert desk.texts() == ["two\nlines", 'say "it"', "last"]
    assert [letter["message"] for letter in desk.rejected()] == [
        "the row has 1 fields, the header 2",
        "the row has 3 fields, the header 2",
    ]
    assert [result["id"] for result in desk.results()] == ["a.csv@7", "a.csv@30", "a.csv@46"]
    desk.sound()


def test_a_missing_column_is_named_with_the_nearest(desk: Desk) -> None:
    desk.put("a.csv", "n,texts\n1,x\n")
    said = desk.run(input__format="{kind: csv}")
    assert said.code == ExitCode.CONFIG
    assert "a.csv has no column `text`; did you mean `texts`?" in said.err


def test_a_file_of_another_kind_is_told_apart(desk: Desk) -> None:
    desk.put("a.jsonl", gzip.compress(GOOD.encode()))
    said = desk.run()
    assert said.code == ExitCode.BAD_INPUT
    assert "a.jsonl: is gzip, not plain text; give its name the ending .gz" in said.err


def test_odd_names_are_read_and_named_as_they_are(desk: Desk) -> None:
    names = ["a b.jsonl", "c#d.jsonl", "e?.jsonl", "f%2Fg.jsonl", "h+i.jsonl", "j/k é/粉.jsonl",
             "l[1].jsonl", "m*.jsonl", "n\nl.jsonl", "~o.jsonl"]  # fmt: skip
    for name in names:
        desk.put(name, [name])
    assert desk.run().code == 0
    assert sorted(desk.texts()) == sorted(names)
    assert {result["id"] for result in desk.results()} == {f"{name}@0" for name in names}
    assert desk.sound()["objects"] == len(names)


@pytest.mark.parametrize("name", ["e?.jsonl", "l[1].jsonl", "a b#%2F+.jsonl"])
def test_an_odd_name_can_be_given_alone(desk: Desk, name: str) -> None:
    desk.put(name, ["this"])
    desk.put("other.jsonl", ["other"])
    assert desk.run("--json", source=f"in/{name}").json["ok"] == 1
    assert desk.texts() == ["this"]


def test_input_that_changes_while_it_is_read_ends_the_run_and_nothing_wrong_is_published(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change comes with the first published part, by way of the progress that is drawn."""
    desk.put("a.jsonl", (f"text {n}" for n in range(200)))
    desk.put("b.jsonl", ["other"])

    def change(self: object, progress: Progress, at: float) -> None:
        if progress.here.records:
            desk.put("b.jsonl", ["changed"])

    monkeypatch.setattr("gristmill.cli.run.SilentView.draw", change)
    said = desk.run("--json", part__records=20, task__engine__records_per_second=100)
    assert said.code == said.json["exit_code"] == ExitCode.BAD_SPEC
    assert "b.jsonl: changed since the run was planned" in said.err
    assert "start a new run" in said.err
    resumed = desk.call("resume", "r")
    assert resumed.code == ExitCode.BAD_SPEC
    assert "1 input object changed: b.jsonl" in resumed.err


def test_a_model_folder_that_is_missing_is_named(desk: Desk) -> None:
    desk.put("a.jsonl", GOOD)
    said = desk.run(task="{kind: embed, engine: {kind: torch, model: ./no-such}}")
    assert said.code == ExitCode.CONFIG
    assert "task.engine.model: got " in said.err
    assert "there is no folder" in said.err
    assert "name the folder that the model was saved in" in said.err


@pytest.mark.parametrize(
    ("most", "sentence"),
    [
        (60_000, "-results.jsonl: can't write it (File too large)"),
        (300_000, "the scratch folder can't be used (File too large); free some space there"),
    ],
    ids=["part", "shard"],
)
def test_a_disk_that_is_full_stops_the_run_and_nothing_half_written_is_read(
    desk: Desk, most: int, sentence: str
) -> None:
    """A limit on the size of files stands for the disk: the kernel refuses the write midway."""
    texts = [f"text {n}" + "x" * 300 for n in range(1500)]
    desk.put("a.jsonl", texts)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        said = desk.run(part__records=300)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert said.code == ExitCode.STORAGE
    assert sentence in said.err
    assert "to go on: gristmill resume" in said.err
    assert not (desk.folder / "out").exists()
    assert desk.call("resume", "r").code == 0
    assert desk.texts() == texts
    desk.sound()
