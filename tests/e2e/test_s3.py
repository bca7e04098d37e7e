"""Runs whose input, output and run directory lie in a bucket."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from gristmill.contract.process import ExitCode
from tests.e2e.conftest import Desk

pytestmark = pytest.mark.emulator

TEXTS = [f"text {n}" for n in range(90)]


def lines(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


def put(client: Any, bucket: str, **bodies: bytes) -> None:
    for name, body in bodies.items():
        client.put_object(Bucket=bucket, Key=f"in/{name}.jsonl", Body=body)


def texts(client: Any, bucket: str) -> list[str]:
    listing = client.list_objects_v2(Bucket=bucket, Prefix="out/").get("Contents", [])
    bodies = [client.get_object(Bucket=bucket, Key=i["Key"])["Body"].read() for i in listing]
    return [json.loads(line)["text"] for body in bodies for line in body.splitlines()]


def test_everything_may_lie_in_a_bucket(desk: Desk, s3_bucket: str, s3_client: Any) -> None:
    put(s3_client, s3_bucket, a=lines(TEXTS[:50]), b=lines(TEXTS[50:]))
    where = f"s3://{s3_bucket}"
    desk.patch.setenv("GRISTMILL_RUNS", f"{where}/runs")

    def run() -> Any:
        return desk.run(
            "--json", "--workers", "2", source=f"{where}/in/", output=f"{where}/out",
            part__records=10, shard__bytes=500,
        ).json  # fmt: skip

    report = run()
    assert report["state"] == "finished"
    assert report["directory"] == f"{where}/runs/r"
    assert texts(s3_client, s3_bucket) == TEXTS
    assert desk.sound()["records"] == len(TEXTS)
    assert desk.call("status", f"{where}/runs/r", "--json").json["records"] == len(TEXTS)
    assert len(desk.call("results", "r", "--head", "3").lines()) == 3
    assert run()["attempts"] == report["attempts"]


def test_a_run_stopped_halfway_goes_on_from_the_bucket(
    desk: Desk, s3_bucket: str, s3_client: Any
) -> None:
    put(s3_client, s3_bucket, a=lines(TEXTS[:50]) + b"bad\n" + lines(TEXTS[50:]))
    where = f"s3://{s3_bucket}"
    said = desk.run(
        "--runs", f"{where}/runs", source=f"{where}/in/a.jsonl", output=f"{where}/out",
        part__records=10, errors__max_failed_records=0,
    )  # fmt: skip
    assert said.code == ExitCode.BAD_INPUT
    assert texts(s3_client, s3_bucket) == []
    assert f"to go on: gristmill resume {where}/runs/r" in said.err
    done = desk.call(
        "resume", f"{where}/runs/r", "--json", "--set", "errors.max_failed_records=1"
    ).json
    assert done["state"] == "finished"
    assert texts(s3_client, s3_bucket) == TEXTS


def test_a_run_deleted_from_its_bucket_can_be_run_again(
    desk: Desk, s3_bucket: str, s3_client: Any
) -> None:
    """The queue on this machine remembers it as done."""
    put(s3_client, s3_bucket, a=lines(TEXTS[:5]))
    where = f"s3://{s3_bucket}"
    for _ in range(2):
        said = desk.run("--runs", f"{where}/runs", source=f"{where}/in/", output=f"{where}/out")
        assert said.code == 0, said.err
        assert texts(s3_client, s3_bucket) == TEXTS[:5]
        for prefix in ("runs/", "out/"):
            for found in s3_client.list_objects_v2(Bucket=s3_bucket, Prefix=prefix)["Contents"]:
                s3_client.delete_object(Bucket=s3_bucket, Key=found["Key"])


def test_an_object_written_over_ends_in_a_changed_input(
    desk: Desk, s3_bucket: str, s3_client: Any
) -> None:
    put(s3_client, s3_bucket, a=lines(TEXTS), b=b"bad\n")
    source = f"s3://{s3_bucket}/in/"
    said = desk.run(source=source, errors__max_failed_records=0)
    assert said.code == ExitCode.BAD_INPUT
    put(s3_client, s3_bucket, b=lines(["mended"]))
    changed = desk.call("resume", "r")
    assert changed.code == ExitCode.BAD_SPEC
    assert "1 input object changed: b.jsonl" in changed.err


@pytest.mark.usefixtures("s3_environment")
@pytest.mark.parametrize("part", ["source", "output"])
def test_a_missing_bucket_is_named(desk: Desk, part: str) -> None:
    desk.put("a.jsonl", TEXTS)
    said = desk.run(**{part: "s3://no-such-bucket/x/"})
    assert said.code == ExitCode.STORAGE
    assert "s3://no-such-bucket/x" in said.err
    assert "there is no such bucket; create it, or correct the name" in said.err
    assert not (desk.folder / "runs").exists()


class _Refuse(BaseHTTPRequestHandler):
    """A bucket that this identity may not touch."""

    def refuse(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_PUT = do_POST = refuse  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def forbidden(s3_environment: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refuse)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    yield "s3://forbidden/x/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("part", ["source", "output"])
def test_a_place_without_permission_is_named(desk: Desk, forbidden: str, part: str) -> None:
    desk.put("a.jsonl", TEXTS)
    said = desk.run(**{part: forbidden})
    assert said.code == ExitCode.PERMISSION
    assert "s3://forbidden/x" in said.err
    assert "refused" in said.err
    assert "check which credentials the environment holds" in said.err
