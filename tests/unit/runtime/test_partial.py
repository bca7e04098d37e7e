import math

import numpy as np
import pytest

from gristmill.contract.column import Column, ColumnType
from gristmill.contract.errors import StorageError
from gristmill.contract.manifest import PartialManifest
from gristmill.contract.record import Completed, Outcome, Rejected, RejectionClass, Stage
from gristmill.contract.shard import Cursor
from gristmill.runtime.partial import decode_partial, encode_partial

COLUMNS = (
    Column(name="text", type=ColumnType.STRING),
    Column(name="tokens", type=ColumnType.INT64),
    Column(name="score", type=ColumnType.FLOAT64),
    Column(name="yes", type=ColumnType.BOOL),
    Column(name="vector", type=ColumnType.VECTOR, length=3),
    Column(name="vectors", type=ColumnType.VECTORS, length=2),
)
BAD = Rejected(RejectionClass.ENGINE, Stage.INFER, "raised\non this")


def head(records: int) -> PartialManifest:
    return PartialManifest(
        spec="s",
        shard=1,
        part=2,
        attempt="a",
        start=Cursor(0, 7),
        records=records,
        engine_seconds=0.1,
    )


def completed(text: str, score: float) -> Completed:
    vector = np.array([1e-30, -0.0, 1 / 3], np.float32)
    vectors = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    return Completed((text, np.int64(2**53 + 1), score, True, vector, vectors))


def test_outcomes_come_back_exactly() -> None:
    outcomes: dict[int, Outcome] = {
        7: BAD,
        0: completed("plain", 0.1),
        3: completed("two\nlines,\u2028 a lone \ud800 and \U0001f600", np.float32(0.1)),
        9: completed("", math.inf),
    }
    found, back = decode_partial(encode_partial(head(4), COLUMNS, outcomes), COLUMNS, "x")
    assert found == head(4)
    assert back[7] == BAD
    assert list(back) == [0, 3, 7, 9]
    for index in (0, 3, 9):
        mine, theirs = outcomes[index], back[index]
        assert isinstance(mine, Completed)
        assert isinstance(theirs, Completed)
        assert mine.values[:4] == theirs.values[:4]
        for one, other in zip(mine.values[4:], theirs.values[4:], strict=True):
            assert one.tobytes() == other.tobytes()
            assert (one.dtype, one.shape) == (other.dtype, other.shape)


def test_no_vector_at_all_keeps_its_shape() -> None:
    columns = COLUMNS[5:]
    none = Completed((np.empty((0, 2), np.float32),))
    _, back = decode_partial(encode_partial(head(1), columns, {0: none}), columns, "x")
    outcome = back[0]
    assert isinstance(outcome, Completed)
    assert outcome.values[0].shape == (0, 2)


def test_one_that_lost_its_end_is_refused() -> None:
    columns = COLUMNS[:1]
    body = encode_partial(head(2), columns, {0: Completed(("a",)), 1: Completed(("b",))})
    with pytest.raises(StorageError, match="runs/x: holds 1 outcomes of 2; delete it"):
        decode_partial(body[: body.rindex(b"[1")], columns, "runs/x")
