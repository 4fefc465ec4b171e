"""Late-interaction models: what a folder holds, and how to make one of any sentence model.

PyLate takes any encoder for a late-interaction model: where a folder has no projection, or one of
another size than asked for, it adds a layer of random weights, new in every process. Queries and
documents would then lie in different spaces, and the ranking would be noise. So a folder must have
a projection of its own, or be named with `tokens-of:`, which gives it the identity.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from evalake_warehouse.errors import SystemFailedError
from evalake_warehouse.identity import sha256_text

_RULE = "tokens-of:1"  # of how a model is derived; part of its identity
_PROJECTION = "1_Dense"
_SENTENCE_SETTINGS = "config_sentence_transformers.json"
# PyLate's own, for a folder that does not say.
_DOCUMENT_LENGTH, _QUERY_LENGTH = 180, 32
_PUNCTUATION = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class TokenShape:
    """What a late-interaction model says of itself."""

    dim: int  # length of one token's vector
    document_length: int  # in tokens
    query_length: int  # in tokens


def read_shape(folder: Path) -> TokenShape | None:
    """The shape of a late-interaction model; None for a folder that holds none."""
    stanford = _read_json(folder / "artifact.metadata")
    if stanford:
        return TokenShape(
            dim=int(stanford.get("dim", 128)),
            document_length=int(stanford.get("doc_maxlen", _DOCUMENT_LENGTH)),
            query_length=int(stanford.get("query_maxlen", _QUERY_LENGTH)),
        )
    modules = _read_json(folder / "modules.json") or []
    projections = [module for module in modules if str(module.get("type")).endswith(".Dense")]
    last = projections and _read_json(folder / str(projections[-1]["path"]) / "config.json")
    if not last:
        return None
    said = _read_json(folder / _SENTENCE_SETTINGS) or {}
    return TokenShape(
        dim=int(last["out_features"]),
        document_length=int(said.get("document_length") or _DOCUMENT_LENGTH),
        query_length=int(said.get("query_length") or _QUERY_LENGTH),
    )


def derived_shape(source: Path) -> TokenShape | None:
    """The shape `derive` gives to a sentence model; None for a folder that is no such model."""
    encoder = _read_json(source / "config.json")
    if not encoder or "hidden_size" not in encoder:
        return None
    own = (_read_json(source / "sentence_bert_config.json") or {}).get("max_seq_length")
    longest = int(own or encoder.get("max_position_embeddings") or _DOCUMENT_LENGTH)
    return TokenShape(int(encoder["hidden_size"]), document_length=longest, query_length=longest)


def derived_fingerprint(source_fingerprint: str) -> str:
    """The identity of a derived model, from that of its source alone."""
    return sha256_text(f"{_RULE}:{source_fingerprint}")


def derive(source: Path, parent: Path) -> Path:
    """A late-interaction model of a sentence model's token vectors as they are.

    The projection is the identity. There is no query or document mark and no query expansion:
    the encoder was never trained to use them. The new folder, inside `parent`, links to the
    weights of `source`. One that is there already is kept; processes may race to make it.
    """
    shape = derived_shape(source)
    if shape is None:
        raise SystemFailedError(f"{source} holds no encoder with a `hidden_size`")
    target = parent / f"tokens-of-{sha256_text(f'{_RULE}:{source}')[:12]}"
    if target.is_dir():
        return target
    made = parent / f".{target.name}-{uuid4().hex}"
    made.mkdir()
    for path in source.iterdir():
        if path.is_file():
            (made / path.name).symlink_to(path)
    _write_json(made / "modules.json", _modules())
    _write_json(made / _SENTENCE_SETTINGS, _settings(shape))
    _write_projection(made / _PROJECTION, shape.dim)
    try:
        made.rename(target)
    except OSError:  # another process was faster
        shutil.rmtree(made)
        if not target.is_dir():
            raise
    return target


def _modules() -> list[Mapping[str, Any]]:
    transformer = "sentence_transformers.models.Transformer"
    return [
        {"idx": 0, "name": "0", "path": "", "type": transformer},
        {"idx": 1, "name": "1", "path": _PROJECTION, "type": "pylate.models.Dense.Dense"},
    ]


def _settings(shape: TokenShape) -> Mapping[str, Any]:
    return {
        "model_type": "ColBERT",
        "similarity_fn_name": "MaxSim",
        "query_prefix": "",
        "document_prefix": "",
        "query_length": shape.query_length,
        "document_length": shape.document_length,
        "do_query_expansion": False,
        "attend_to_expansion_tokens": False,
        "skiplist_words": _PUNCTUATION,  # no token of a document's own; as PyLate has it
    }


def _write_projection(folder: Path, dim: int) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir()
    config = {
        "in_features": dim,
        "out_features": dim,
        "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
        "use_residual": False,
    }
    _write_json(folder / "config.json", config)
    save_file({"linear.weight": np.eye(dim, dtype=np.float32)}, folder / "model.safetensors")


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def _write_json(path: Path, value: object) -> None:
    if path.is_symlink():
        path.unlink()
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
