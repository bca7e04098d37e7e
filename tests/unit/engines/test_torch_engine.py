from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer

from gristmill.contract.errors import ConfigError, EngineDeadError
from gristmill.contract.record import Completed, Input, Outcome, Record, Rejected, RejectionClass
from gristmill.contract.task import Task
from gristmill.engines.setup import Setup
from gristmill.engines.torch_engine import Torch, load
from tests.doubles.instant_clock import InstantClock
from tests.fixtures.models import POSITIONS, save_classifier, save_embedder

TEXTS = ["red", "green apple pear plum", "one two three . one two three", "blue blue"]
PAIRS = [(text, "plum one") for text in TEXTS]
LABELS = ["fruit", "colour", "number"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save_embedder(folder / "embedder")
    save_embedder(folder / "prompted", prompt="red ")
    save_classifier(folder / "scorer", ["relevance"])
    save_classifier(folder / "classifier", LABELS)
    CrossEncoder(str(folder / "scorer"), device="cpu").save_pretrained(str(folder / "saved"))
    return folder


def _load(model: Path, kind: str = "embed", dialect: str = "parquet", **options: Any) -> Torch:
    engine = {"kind": "torch", "model": str(model), **options}
    task = Task.model_validate({"kind": kind, "engine": engine})
    return load(Setup(task=task, dialect=dialect, seed=0, threads=1, clock=InstantClock()))


def _infer(engine: Torch, *inputs: Input) -> list[Outcome]:
    records = [
        Record(ordinal=index, place="", end=0, id="", inputs=(value,), raw=b"")
        for index, value in enumerate(inputs)
    ]
    return list(anyio.run(engine.infer, engine.prepare(records), range(len(records))))


def _values(outcomes: list[Outcome]) -> list[tuple[Any, ...]]:
    return [outcome.values for outcome in outcomes if isinstance(outcome, Completed)]


@pytest.mark.parametrize("name", ["embedder", "prompted"])
def test_embeddings_are_the_librarys_own(name: str, models: Path) -> None:
    expected = SentenceTransformer(str(models / name), device="cpu").encode(TEXTS)
    found = _values(_infer(_load(models / name), *TEXTS))
    np.testing.assert_allclose([row for (row,) in found], expected, atol=1e-5)


@pytest.mark.parametrize("name", ["scorer", "saved"])
def test_scores_are_the_librarys_own(name: str, models: Path) -> None:
    expected = CrossEncoder(str(models / name), device="cpu").predict(PAIRS)
    found = _values(_infer(_load(models / name, "score"), *PAIRS))
    np.testing.assert_allclose([score for (score,) in found], expected, atol=1e-5)


def test_the_label_is_the_likeliest_with_its_share(models: Path) -> None:
    library = CrossEncoder(str(models / "classifier"), device="cpu")
    shares = library.predict([(text, "plum one") for text in TEXTS], apply_softmax=True)
    found = _values(_infer(_load(models / "classifier", "classify"), *PAIRS))
    assert [label for label, _ in found] == [LABELS[index] for index in shares.argmax(axis=1)]
    np.testing.assert_allclose([share for _, share in found], shares.max(axis=1), atol=1e-5)


def test_answers_come_as_float32_whatever_the_model_computes_in(models: Path) -> None:
    ((row,),) = _values(_infer(_load(models / "embedder", dtype="bfloat16"), "red"))
    assert row.dtype == np.float32


def test_the_blueprint_sets_the_batches(models: Path) -> None:
    profile = _load(models / "embedder", batch={"tokens": 77, "records": 5}).profile
    assert (profile.slots, profile.batch_tokens, profile.batch_records) == (1, 77, 5)


def test_a_text_of_more_than_the_models_positions_is_a_fault(models: Path) -> None:
    engine = _load(models / "embedder")
    long = Record(ordinal=0, place="", end=0, id="", inputs=("red " * POSITIONS,), raw=b"")
    assert engine.prepare([long]).faults[0].reason is RejectionClass.TOO_LONG


def test_a_missing_device_is_refused(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"task\.engine\.device: got cuda"):
        _load(models / "embedder", device="cuda")


def test_damaged_weights_are_refused_by_the_folders_name(tmp_path: Path) -> None:
    folder = save_embedder(tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ConfigError) as caught:
        _load(folder)
    assert str(folder) in str(caught.value)


def _replace_head(
    engine: Torch, monkeypatch: pytest.MonkeyPatch, head: Callable[[Any, int], Any]
) -> None:
    """`head` gets the true head's answers and the number of rows."""
    true = engine._head

    def faulty(features: dict[str, Any]) -> Any:
        return head(true(features), len(features["input_ids"]))

    monkeypatch.setattr(engine, "_head", faulty)


def test_a_pass_too_large_for_the_device_is_halved(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = _load(models / "embedder")
    expected = _values(_infer(engine, *TEXTS))

    def small(answers: Any, rows: int) -> Any:
        if rows > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return answers

    _replace_head(engine, monkeypatch, small)
    found = _values(_infer(engine, *TEXTS))
    np.testing.assert_allclose([r for (r,) in found], [r for (r,) in expected], atol=1e-5)


def test_a_record_too_large_for_the_device_alone_is_rejected(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = _load(models / "embedder")

    def tiny(answers: Any, rows: int) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    _replace_head(engine, monkeypatch, tiny)
    outcomes = _infer(engine, "red", "blue")
    assert [type(outcome) for outcome in outcomes] == [Rejected, Rejected]
    assert all("memory" in o.message for o in outcomes if isinstance(o, Rejected))


def test_a_failed_device_is_a_dead_engine(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = _load(models / "embedder")

    def failed(answers: Any, rows: int) -> Any:
        raise torch.AcceleratorError("device-side assert triggered")

    _replace_head(engine, monkeypatch, failed)
    with pytest.raises(EngineDeadError):
        _infer(engine, "red")
    with pytest.raises(EngineDeadError):
        anyio.run(engine.probe)


def test_an_answer_that_is_no_number_rejects_its_record_alone(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = _load(models / "embedder")

    def spoilt(answers: Any, rows: int) -> Any:
        return [(np.full_like(answers[0][0], np.nan),), *answers[1:]]

    _replace_head(engine, monkeypatch, spoilt)
    outcomes = _infer(engine, "red", "blue")
    assert isinstance(outcomes[0], Rejected)
    assert outcomes[0].reason is RejectionClass.ENGINE
    assert isinstance(outcomes[1], Completed)


def test_an_exception_about_a_record_is_left_to_the_runtime(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = _load(models / "embedder")

    def raising(answers: Any, rows: int) -> Any:
        raise ValueError("odd record")

    _replace_head(engine, monkeypatch, raising)
    with pytest.raises(ValueError, match="odd record"):
        _infer(engine, "red")
