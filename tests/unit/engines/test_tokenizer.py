"""Over the real tokenizer of a tiny vocabulary: words of `tests.fixtures.models`, ids 5 and up."""

from dataclasses import replace
from typing import Any

import pytest
from transformers import AutoTokenizer

from gristmill.contract.record import Input, Record, Rejected, RejectionClass, Stage
from gristmill.engines.protocol import Prepared
from gristmill.engines.request import columns_for
from gristmill.engines.tokenizer import Reading, Tokenizer
from tests.fixtures.models import SPECIAL, WORDS, save_tokenizer

CLS, SEP = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")
RED, GREEN, BLUE = (len(SPECIAL) + index for index in range(3))

SINGLES = Reading(
    columns=columns_for("embed", "openai", 16),
    texts=(1,),
    prompt="",
    limit=6,
    truncate=False,
    vocabulary=len(SPECIAL) + len(WORDS),
)
PAIRS = replace(SINGLES, texts=(2,))


class Fragile:
    """A tokenizer that raises on whole calls, as real ones do for one bad text in thousands."""

    def __init__(self, library: Any, poison: str) -> None:
        self._library = library
        self._poison = poison
        self.calls = 0

    def __call__(self, texts: list[str], *rest: Any, **options: Any) -> Any:
        self.calls += 1
        if self._poison in texts:
            raise TypeError("TextInputSequence must be str")
        return self._library(texts, *rest, **options)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(save_tokenizer(tmp_path_factory.mktemp("tokenizer")))


def _record(*inputs: Input) -> Record:
    return Record(ordinal=0, place="", end=0, id="", inputs=inputs, raw=b"")


def _prepare(library: Any, reading: Reading, *inputs: Input) -> Prepared:
    return Tokenizer(library, reading).prepare([_record(value) for value in inputs])


def _ids(prepared: Prepared) -> list[list[list[int]]]:
    return [[sequence.ids.tolist() for sequence in record] for record in prepared.content]


def test_texts_become_tokens_without_padding(library: Any) -> None:
    prepared = _prepare(library, SINGLES, "red green", "blue")
    assert _ids(prepared) == [[[CLS, RED, GREEN, SEP]], [[CLS, BLUE, SEP]]]
    assert prepared.lengths == [4, 3]
    assert not prepared.faults


def test_a_pair_keeps_its_halves_apart(library: Any) -> None:
    prepared = _prepare(library, PAIRS, ("red", "blue green"))
    assert _ids(prepared) == [[[CLS, RED, SEP, BLUE, GREEN, SEP]]]
    assert prepared.content[0][0].segments.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_prompt_goes_before_each_text(library: Any) -> None:
    prepared = _prepare(library, replace(SINGLES, prompt="blue "), "red", "green")
    assert _ids(prepared) == [[[CLS, BLUE, RED, SEP]], [[CLS, BLUE, GREEN, SEP]]]


def test_several_inputs_keep_their_order(library: Any) -> None:
    record = _record("red", (CLS, BLUE, SEP), "green green")
    prepared = Tokenizer(library, SINGLES).prepare([record])
    assert _ids(prepared) == [[[CLS, RED, SEP], [CLS, BLUE, SEP], [CLS, GREEN, GREEN, SEP]]]
    assert prepared.lengths == [10]


def test_an_over_long_text_is_rejected_with_its_length(library: Any) -> None:
    prepared = _prepare(library, SINGLES, "red", "red red red red red", "red red red red")
    assert set(prepared.faults) == {1}
    assert prepared.faults[1].reason is RejectionClass.TOO_LONG
    assert "7 tokens, the limit is 6" in prepared.faults[1].message
    assert prepared.lengths == [3, 0, 6]


def test_an_over_long_text_is_cut_when_asked_for(library: Any) -> None:
    reading = replace(SINGLES, truncate=True)
    prepared = _prepare(library, reading, "red green blue red green blue", (RED,) * 8)
    assert _ids(prepared) == [[[CLS, RED, GREEN, BLUE, RED, SEP]], [[RED] * 6]]
    assert not prepared.faults


def test_one_over_long_input_rejects_its_whole_record_and_no_other(library: Any) -> None:
    records = [_record("red", "blue " * 9), _record("red")]
    prepared = Tokenizer(library, SINGLES).prepare(records)
    assert set(prepared.faults) == {0}
    assert prepared.content[0] == ()
    assert prepared.lengths == [0, 3]


def test_a_text_the_tokenizer_raises_on_is_found_among_many(library: Any) -> None:
    texts = [f"red {'green ' * (index % 3)}" for index in range(64)]
    texts[41] = "poison"
    fragile = Fragile(library, "poison")
    prepared = _prepare(fragile, SINGLES, *texts)
    assert set(prepared.faults) == {41}
    assert prepared.faults[41].reason is RejectionClass.ENGINE
    assert prepared.faults[41].stage is Stage.PREPARE
    assert "TypeError" in prepared.faults[41].message
    assert sum(length > 0 for length in prepared.lengths) == 63
    assert fragile.calls < 20


def test_text_that_is_not_unicode_is_a_fault(library: Any) -> None:
    assert set(_prepare(library, SINGLES, "red", "\ud800", "blue").faults) == {1}


@pytest.mark.parametrize(
    ("reading", "value", "said"),
    [
        (SINGLES, b"red", "is bytes"),
        (SINGLES, ("red", "blue"), "is a pair of texts"),
        (PAIRS, "red", "is one text"),
        (PAIRS, (CLS, SEP), "is token ids"),
        (replace(SINGLES, prompt="blue "), (CLS, SEP), "is token ids"),
        (SINGLES, (), "has no token"),
        (SINGLES, (CLS, 99, SEP), "has token id 99; ids are 0 to 14"),
        (SINGLES, (CLS, -1, SEP), "has token id -1"),
    ],
)
def test_what_the_model_cannot_read_is_refused(
    reading: Reading, value: Input, said: str, library: Any
) -> None:
    prepared = _prepare(library, reading, value)
    assert prepared.faults[0].reason is RejectionClass.UNSUPPORTED
    assert said in prepared.faults[0].message


def test_over_long_token_ids_are_rejected(library: Any) -> None:
    prepared = _prepare(library, SINGLES, (RED,) * 7)
    assert prepared.faults[0].reason is RejectionClass.TOO_LONG


def test_a_record_that_reading_rejected_is_left_alone(library: Any) -> None:
    fault = Rejected(RejectionClass.UNPARSABLE, Stage.READ, "not JSON")
    bad = Record(ordinal=0, place="", end=0, id="", inputs=(), raw=b"", fault=fault)
    prepared = Tokenizer(library, SINGLES).prepare([bad, _record("red")])
    assert prepared.lengths == [0, 3]
    assert not prepared.faults
