"""Records -> token sequences, a part at a time. A bad record never spoils another."""

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Any

import numpy as np

from gristmill.contract.column import Column
from gristmill.contract.record import Input, Record, Rejected, RejectionClass, Stage
from gristmill.engines.protocol import Prepared
from gristmill.engines.request import refusal, too_long, unsupported
from gristmill.engines.sequence import Sequence

Text = str | tuple[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a model wants to be fed."""

    columns: tuple[Column, ...]
    texts: tuple[int, ...]
    """How many texts may make one input: 1, 2 for pairs."""
    prompt: str
    """Goes before each text."""
    limit: int
    """Tokens of one input."""
    truncate: bool
    """Cut a longer input; else reject it."""
    vocabulary: int
    """Token ids are below this."""


class Tokenizer:
    def __init__(self, library: Any, reading: Reading) -> None:
        """`library` is a tokenizer of the transformers library."""
        self._library = library
        self._reading = reading

    def prepare(self, records: SequenceOf[Record]) -> Prepared:
        """The content is a tuple of sequences a record, empty for a rejected one."""
        faults: dict[int, Rejected] = {}
        owners: list[int] = []
        inputs: list[Input] = []
        for index, record in enumerate(records):
            fault = None if record.fault is not None else refusal(record, self._reading.columns)
            if fault is not None:
                faults[index] = fault
            elif record.fault is None:
                owners.extend([index] * len(record.inputs))
                inputs.extend(record.inputs)
        content: list[tuple[Sequence, ...]] = [()] * len(records)
        for owner, answer in zip(owners, self._read(inputs), strict=True):
            if isinstance(answer, Rejected):
                faults.setdefault(owner, answer)
            else:
                content[owner] += (answer,)
        for index in faults:
            content[index] = ()
        lengths = [sum([len(s.ids) for s in sequences]) for sequences in content]
        return Prepared(lengths, faults, content)

    def _read(self, inputs: SequenceOf[Input]) -> list[Sequence | Rejected]:
        answers: dict[int, Sequence | Rejected] = {}
        texts: dict[int, list[tuple[int, Text]]] = {1: [], 2: []}
        for index, value in enumerate(inputs):
            if isinstance(value, str):
                texts[1].append((index, value))
            elif isinstance(value, bytes):
                answers[index] = unsupported(
                    "is bytes, but the engine reads text; set input.format.content to text"
                )
            elif value and isinstance(value[0], str):
                texts[2].append((index, (value[0], str(value[1]))))
            else:
                answers[index] = self._given(np.array(value, dtype=np.int64))
        for count, group in texts.items():
            if count in self._reading.texts:
                encoded = self._encode([text for _, text in group])
                answers.update(zip((index for index, _ in group), encoded, strict=True))
            else:
                answers.update((index, _wrong_count(count)) for index, _ in group)
        return [answers[index] for index in range(len(inputs))]

    def _given(self, ids: Any) -> Sequence | Rejected:
        """Token ids are taken as they are, special tokens included."""
        if self._reading.prompt or 1 not in self._reading.texts:
            return unsupported("is token ids, but this model needs text around its input")
        if len(ids) == 0:
            return unsupported("has no token; an input needs one")
        if ids.min() < 0 or ids.max() >= self._reading.vocabulary:
            wrong = ids[(ids < 0) | (ids >= self._reading.vocabulary)][0]
            return unsupported(f"has token id {wrong}; ids are 0 to {self._reading.vocabulary - 1}")
        if len(ids) > self._reading.limit and not self._reading.truncate:
            return too_long(len(ids), self._reading.limit)
        return Sequence(ids[: self._reading.limit].astype(np.int32), None)

    def _encode(self, texts: list[Text]) -> list[Sequence | Rejected]:
        """A text the tokenizer raises on is found by halving; all others are encoded."""
        if not texts:
            return []
        try:
            sequences = self._call(texts, truncate=False)
        except Exception as error:  # noqa: BLE001 - whatever a tokenizer raises is about a text
            if len(texts) == 1:
                return [_refused_by_tokenizer(error)]
            middle = len(texts) // 2
            return self._encode(texts[:middle]) + self._encode(texts[middle:])
        return [self._fit(s, text) for s, text in zip(sequences, texts, strict=True)]

    def _fit(self, sequence: Sequence, text: Text) -> Sequence | Rejected:
        length = len(sequence.ids)
        if length == 0:
            return unsupported("has no token; an input needs one")
        if length <= self._reading.limit:
            return sequence
        if not self._reading.truncate:
            return too_long(length, self._reading.limit)
        return self._call([text], truncate=True)[0]

    def _call(self, texts: list[Text], *, truncate: bool) -> list[Sequence]:
        prompt = self._reading.prompt
        pairs = isinstance(texts[0], tuple)
        firsts = [prompt + (text if isinstance(text, str) else text[0]) for text in texts]
        seconds = [text[1] for text in texts] if pairs else None
        found = self._library(
            firsts,
            seconds,
            padding=False,
            truncation="longest_first" if truncate else False,
            max_length=self._reading.limit if truncate else None,
            return_attention_mask=False,
            verbose=False,
        )
        segments = found.get("token_type_ids") if pairs else None
        return [
            Sequence(
                np.array(ids, dtype=np.int32),
                None if segments is None else np.array(segments[row], dtype=np.int32),
            )
            for row, ids in enumerate(found["input_ids"])
        ]


def _wrong_count(count: int) -> Rejected:
    if count == 1:
        return unsupported("is one text, but the task compares two; set input.format.pair")
    return unsupported("is a pair of texts, but the task takes one; leave out input.format.pair")


def _refused_by_tokenizer(error: Exception) -> Rejected:
    return Rejected(
        RejectionClass.ENGINE,
        Stage.PREPARE,
        f"the tokenizer raised {type(error).__name__} on it; is the text valid Unicode?",
    )
