"""A pinned hub model -> a local folder, fetched or from the cache."""

from pathlib import Path
from typing import Final

from gristmill.contract.errors import ConfigError
from gristmill.contract.model import HubModel

_FOREIGN: Final = [
    "*.bin.index.json", "*.ckpt", "*.gguf", "*.h5", "*.mlmodel", "*.msgpack", "*.onnx",
    "*.onnx_data", "*.ot", "*.tflite", "coreml/*", "onnx/*", "openvino/*", "original/*",
]  # fmt: skip
"""Weights of other frameworks, which many models carry beside torch's."""


def fetch(model: HubModel) -> Path:
    """Raises ConfigError when the hub can't be reached and the cache doesn't have it."""
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(model.id, revision=model.commit, ignore_patterns=_FOREIGN)
    except OSError as error:
        raise ConfigError(
            f"task.engine.model: {model.id} at {model.commit} can't be fetched "
            f"({type(error).__name__}); check the id and the commit, set HF_TOKEN for a private "
            f"model, or fill the cache where there is a network "
            f"(`hf download {model.id} --revision {model.commit}`) and set HF_HOME to it"
        ) from error
    return Path(folder)
