"""How a loaded sentence-transformers model wants to be fed, and proof that we feed it so."""

from dataclasses import replace
from typing import Any, Final

from gristmill.contract.errors import ConfigError
from gristmill.contract.record import Record
from gristmill.contract.task import Kind, TorchEngine
from gristmill.engines.request import columns_for
from gristmill.engines.sequence import Sequence
from gristmill.engines.tokenizer import Reading, Tokenizer

PROBE: Final = "The quick brown fox jumps over the lazy dog."

_TEXTS: Final[dict[Kind, tuple[int, ...]]] = {"embed": (1,), "score": (2,), "classify": (1, 2)}
_FEATURES: Final = {
    "input_ids", "attention_mask", "token_type_ids", "modality", "prompt_length",
}  # fmt: skip


def reading_of(model: Any, kind: Kind, dialect: str, options: TorchEngine) -> Reading:
    dimensions = model.get_embedding_dimension() if kind == "embed" else 0
    ceiling = _ceiling(model)
    if options.max_tokens is not None and options.max_tokens > ceiling:
        raise ConfigError(
            f"task.engine.max_tokens: got {options.max_tokens}, the model takes at most {ceiling}"
        )
    return Reading(
        columns=columns_for(kind, dialect, dimensions),
        texts=_TEXTS[kind],
        prompt=model.prompts.get(model.default_prompt_name) or "",
        limit=options.max_tokens or min(ceiling, model.tokenizer.model_max_length),
        truncate=options.over_long == "truncate",
        vocabulary=model.config.vocab_size,
    )


def _ceiling(model: Any) -> int:
    """Tokens that the model has positions for."""
    positions = int(getattr(model.config, "max_position_embeddings", -1))
    if positions <= 0:
        return 2**31
    for module in model.modules():
        learned: Any = getattr(module, "position_embeddings", None)
        # RoBERTa and its kin count positions from the filler's id on.
        if getattr(learned, "padding_idx", None) is not None:
            return positions - int(learned.padding_idx) - 1
    return positions


def sample(model: Any, kind: Kind, reading: Reading) -> tuple[Sequence, dict[str, Any]]:
    """A known good sequence, and the model's features: None for a tensor, else the value.

    Raises ConfigError where the library would read a text otherwise than `Tokenizer` does.
    """
    text = PROBE if 1 in reading.texts else (PROBE, PROBE)
    wanted = model.preprocess([text], prompt=reading.prompt or None)
    whole = replace(reading, truncate=True, limit=model.tokenizer.model_max_length)
    record = Record(ordinal=0, place="", end=0, id="probe", inputs=(text,), raw=b"")
    ((known,),) = Tokenizer(model.tokenizer, whole).prepare([record]).content
    if (
        not set(wanted) <= _FEATURES
        or wanted.get("modality", "text") != "text"
        or wanted["input_ids"][0].tolist() != known.ids.tolist()
    ):
        raise ConfigError(
            f"task.engine.model: the model reads more than plain text ({', '.join(wanted)}), "
            f"which the torch engine can't {kind} with; choose a text encoder"
        )
    tensors = (value if isinstance(value, str | int) else None for value in wanted.values())
    return known, dict(zip(wanted, tensors, strict=True))
