"""sentence-transformers models on torch: embeddings, scores of pairs, labels."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import anyio.to_thread
import numpy as np
import torch
import transformers
from anyio.lowlevel import checkpoint
from sentence_transformers import CrossEncoder, SentenceTransformer

from gristmill.contract.column import ColumnType
from gristmill.contract.errors import ConfigError, EngineDeadError
from gristmill.contract.model import HubModel, find_model
from gristmill.contract.record import Completed, Outcome, Record, Rejected, RejectionClass, Stage
from gristmill.contract.task import Kind, TorchEngine
from gristmill.engines.head import check_head
from gristmill.engines.hub import fetch
from gristmill.engines.protocol import EngineProfile, Prepared
from gristmill.engines.reading import reading_of, sample
from gristmill.engines.sequence import Sequence as Tokens
from gristmill.engines.sequence import cut, pad
from gristmill.engines.setup import Setup
from gristmill.engines.tokenizer import Reading, Tokenizer

Model = SentenceTransformer | CrossEncoder
Answer = tuple[Any, ...] | Rejected
Head = Callable[[dict[str, Any]], list[tuple[Any, ...]]]
"""Features of one forward pass -> the values of each row."""

_DTYPES: Final = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
_NOT_A_NUMBER: Final = Rejected(
    RejectionClass.ENGINE,
    Stage.INFER,
    "the model's answer is not a number (NaN or infinite); float32 may do better than float16",
)
_NO_MEMORY: Final = Rejected(
    RejectionClass.ENGINE,
    Stage.INFER,
    "does not fit the device's memory, even alone; lower task.engine.max_tokens",
)


def load(setup: Setup) -> "Torch":
    """Raises ConfigError for a model that isn't there or can't do the task."""
    options, kind = cast(TorchEngine, setup.task.engine), setup.task.kind
    found = find_model(options)
    folder = fetch(found) if isinstance(found, HubModel) else found
    check_head(kind, folder)
    if setup.threads is not None:
        torch.set_num_threads(setup.threads)
    torch.manual_seed(setup.seed)
    model = _load_model(kind, folder, options)
    return Torch(model, kind, reading_of(model, kind, setup.dialect, options), options)


class Torch:
    """A batch engine: one slot, batches by tokens. Made by `load`."""

    def __init__(self, model: Any, kind: Kind, reading: Reading, options: TorchEngine) -> None:
        self._head = _HEADS[kind](model)
        self._device = model.device
        self._several = reading.columns[0].type is ColumnType.VECTORS
        self._tokenizer = Tokenizer(model.tokenizer, reading)
        self._filler = int(model.tokenizer.pad_token_id or 0)
        self._side = model.tokenizer.padding_side
        self._known, self._constant = sample(model, kind, reading)
        self._profile = EngineProfile(
            columns=reading.columns,
            slots=1,
            batch_tokens=options.batch.tokens,
            batch_records=options.batch.records,
            batch_stable=False,
        )

    @property
    def profile(self) -> EngineProfile:
        return self._profile

    def prepare(self, records: Sequence[Record]) -> Prepared:
        return self._tokenizer.prepare(records)

    async def infer(self, prepared: Prepared, members: Sequence[int]) -> Sequence[Outcome]:
        records: list[tuple[Tokens, ...]] = [prepared.content[index] for index in members]
        sequences = [sequence for record in records for sequence in record]
        answers = iter(await anyio.to_thread.run_sync(self._answer, sequences))
        return [self._outcome(record, [next(answers) for _ in record]) for record in records]

    async def probe(self) -> None:
        await anyio.to_thread.run_sync(self._answer, [self._known])

    async def aclose(self) -> None:
        await checkpoint()

    def _outcome(self, record: tuple[Tokens, ...], answers: list[Answer]) -> Outcome:
        values: list[tuple[Any, ...]] = []
        for answer in answers:
            if isinstance(answer, Rejected):
                return answer
            values.append(answer)
        if not self._several:
            return Completed(values[0])
        vectors = np.stack([value[0] for value in values])
        return Completed((vectors, sum(len(sequence.ids) for sequence in record)))

    def _answer(self, sequences: list[Tokens]) -> list[Answer]:
        """Records of several inputs can exceed the budget that the batch was planned with."""
        lengths = [len(sequence.ids) for sequence in sequences]
        answers: list[Answer] = [_NOT_A_NUMBER] * len(sequences)
        for indices in cut(lengths, self._profile.batch_tokens or 0):
            found = self._pass([sequences[index] for index in indices])
            for index, answer in zip(indices, found, strict=True):
                answers[index] = answer
        return answers

    def _pass(self, sequences: list[Tokens]) -> list[Answer]:
        """One forward pass; halves where the device's memory is too small."""
        try:
            with torch.inference_mode():
                values = self._head(self._features(sequences))
        except torch.OutOfMemoryError:
            pass  # halved below, when the failed pass has let go of its memory
        except torch.AcceleratorError as error:
            raise EngineDeadError(
                f"the {self._device.type} device failed ({error}); run it again, and on another "
                "machine if this one keeps failing"
            ) from error
        else:
            return [value if _is_finite(value) else _NOT_A_NUMBER for value in values]
        torch.cuda.empty_cache()
        if len(sequences) == 1:
            return [_NO_MEMORY]
        middle = len(sequences) // 2
        return self._pass(sequences[:middle]) + self._pass(sequences[middle:])

    def _features(self, sequences: list[Tokens]) -> dict[str, Any]:
        padded = pad(sequences, self._filler, self._side)
        tensors = {
            "input_ids": padded.ids,
            "attention_mask": padded.mask,
            "token_type_ids": padded.segments,
        }
        return {
            name: torch.from_numpy(tensors[name]).to(self._device) if value is None else value
            for name, value in self._constant.items()
        }


def _embed(model: SentenceTransformer) -> Head:
    dimensions = model.get_embedding_dimension()

    def head(features: dict[str, Any]) -> list[tuple[Any, ...]]:
        vectors = model(features)["sentence_embedding"][:, :dimensions]
        return [(row,) for row in vectors.float().cpu().numpy()]

    return head


def _score(model: CrossEncoder) -> Head:
    def head(features: dict[str, Any]) -> list[tuple[Any, ...]]:
        scores = model.activation_fn(model(features)["scores"].float())
        return [(score,) for score in scores.flatten().double().cpu().tolist()]

    return head


def _classify(model: CrossEncoder) -> Head:
    labels = {int(index): str(label) for index, label in model.config.id2label.items()}

    def head(features: dict[str, Any]) -> list[tuple[Any, ...]]:
        shares = model(features)["scores"].float().softmax(dim=-1)
        scores, indices = shares.max(dim=-1)
        found = zip(indices.cpu().tolist(), scores.double().cpu().tolist(), strict=True)
        return [(labels[index], score) for index, score in found]

    return head


_HEADS: Final[dict[Kind, Callable[[Any], Head]]] = {
    "embed": _embed,
    "score": _score,
    "classify": _classify,
}


def _is_finite(values: tuple[Any, ...]) -> bool:
    """The last value is always the one the model computed."""
    return bool(np.isfinite(values[-1]).all())


def _load_model(kind: Kind, folder: Path, options: TorchEngine) -> Any:
    if options.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "task.engine.device: got cuda, but torch finds no CUDA device here; set auto or cpu, "
            "or run where there is one"
        )
    device = "cuda" if options.device == "auto" and torch.cuda.is_available() else options.device
    transformers.utils.logging.disable_progress_bar()
    try:
        model = (SentenceTransformer if kind == "embed" else CrossEncoder)(
            str(folder),
            device="cpu" if device == "auto" else device,
            local_files_only=True,
            model_kwargs={"dtype": _DTYPES[options.dtype]},
        )
    except ImportError:
        raise
    except torch.OutOfMemoryError as error:
        raise EngineDeadError(
            f"task.engine.model: {folder} does not fit the device's memory; take a larger device"
        ) from error
    except Exception as error:
        raise ConfigError(
            f"task.engine.model: {folder} can't be loaded ({type(error).__name__}: {error}); "
            "check that the folder is whole"
        ) from error
    return model.eval()
