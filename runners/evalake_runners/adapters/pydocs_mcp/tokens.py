"""How large a prompt is, by which pydocs-mcp fits its trees to a model, and what calls used."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalake_warehouse.errors import SystemFailedError


@dataclass(slots=True)
class Spent:
    """What calls used. `cost_usd` is None where no prices are configured."""

    n_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost_usd: float | None = None


def estimate_tokens(text: str) -> int:
    """A bound rather than a mean: code and JSON take about three bytes a token."""
    return math.ceil(len(text.encode()) / 3)


def use_estimated_tokens() -> None:
    """Let pydocs-mcp fit its prompts without tiktoken's encodings, which are downloads.

    Every model that tiktoken does not know falls back to one encoding by name; this puts an
    estimate in its place, for this process.
    """
    import tiktoken.model
    import tiktoken.registry

    class Estimate:
        def encode(self, text: str) -> range:
            return range(estimate_tokens(text))

    names = {"o200k_base", "cl100k_base", *tiktoken.model.MODEL_TO_ENCODING.values()}
    for name in names:
        tiktoken.registry.ENCODINGS[name] = Estimate()  # type: ignore[assignment]


def require_encoding(model: str) -> None:
    """Load the encoding that pydocs-mcp counts a model's tokens with.

    Raises:
        SystemFailedError: it is not at hand and could not be fetched.
    """
    import tiktoken

    try:
        try:
            tiktoken.encoding_for_model(model)
        except KeyError:
            tiktoken.get_encoding("o200k_base")
    except Exception as error:
        raise SystemFailedError(
            f"tiktoken cannot load the encoding for `{model}`: {type(error).__name__}",
            hint="set `llm.prompt_size: estimate`, or TIKTOKEN_CACHE_DIR to a filled cache",
        ) from error
