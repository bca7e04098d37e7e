from types import SimpleNamespace
from typing import Any

import pytest
from sentence_transformers import SentenceTransformer

from gristmill.contract.errors import ConfigError
from gristmill.contract.task import TorchEngine
from gristmill.engines.reading import reading_of, sample
from tests.fixtures.models import POSITIONS, save_embedder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformer:
    folder = save_embedder(tmp_path_factory.mktemp("reading") / "model", prompt="red ")
    return SentenceTransformer(str(folder), device="cpu")


def _options(**options: Any) -> TorchEngine:
    return TorchEngine(kind="torch", model="./model", **options)


def test_a_model_says_how_it_wants_to_be_fed(model: SentenceTransformer) -> None:
    reading = reading_of(model, "embed", "parquet", _options())
    assert reading.limit == POSITIONS
    assert reading.prompt == "red "
    assert reading.texts == (1,)
    assert reading.columns[0].length == 16
    assert not reading.truncate


def test_the_blueprint_may_lower_the_limit(model: SentenceTransformer) -> None:
    options = _options(max_tokens=8, over_long="truncate")
    reading = reading_of(model, "embed", "parquet", options)
    assert (reading.limit, reading.truncate) == (8, True)


def test_a_limit_over_the_models_positions_is_refused(model: SentenceTransformer) -> None:
    with pytest.raises(ConfigError, match=r"max_tokens: got 33, the model takes at most 32"):
        reading_of(model, "embed", "parquet", _options(max_tokens=POSITIONS + 1))


def test_positions_that_start_after_the_filler_do_not_count() -> None:
    learned = SimpleNamespace(position_embeddings=SimpleNamespace(padding_idx=1))
    roberta = SimpleNamespace(
        config=SimpleNamespace(max_position_embeddings=514, vocab_size=10),
        tokenizer=SimpleNamespace(model_max_length=10**30),
        modules=lambda: [SimpleNamespace(), learned],
        prompts={},
        default_prompt_name=None,
    )
    assert reading_of(roberta, "score", "parquet", _options()).limit == 512


def test_the_sample_is_read_as_the_library_reads_it(model: SentenceTransformer) -> None:
    reading = reading_of(model, "embed", "parquet", _options(max_tokens=2))
    known, features = sample(model, "embed", reading)
    assert len(known.ids) > 2
    assert {"input_ids", "attention_mask"} <= features.keys()


def test_a_model_that_reads_otherwise_is_refused(
    model: SentenceTransformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = reading_of(model, "embed", "parquet", _options())
    library = model.preprocess

    def chatty(texts: list[str], **options: Any) -> Any:
        return library([f"user: {text}" for text in texts], **options)

    monkeypatch.setattr(model, "preprocess", chatty)
    with pytest.raises(ConfigError, match="more than plain text"):
        sample(model, "embed", reading)
