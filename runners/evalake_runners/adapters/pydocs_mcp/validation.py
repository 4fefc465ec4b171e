"""What is wrong with a configuration, told all at once and before anything is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from evalake_runners.adapters.pydocs_mcp.config import (
    TOKENS_OF,
    LateInteractionConfig,
    PydocsConfig,
)
from evalake_runners.adapters.pydocs_mcp.models import is_packaged, named_models, token_shape
from evalake_runners.adapters.pydocs_mcp.pipelines import Pipeline, ingestion_stages
from evalake_warehouse.errors import Problem

# What a pipeline retrieves from -> the ingestion stage that makes it.
_STAGES = {
    "vectors": "embed_chunks",
    "token_vectors": "embed_chunks_multi_vector",
    "edges": "reference_capture",
}


def find_problems(
    config: PydocsConfig,
    pipeline: Pipeline,
    ingestion: Path,
    models: Mapping[str, Path | None],
    *,
    depth: int,
) -> list[Problem]:
    """Every problem of one arm."""
    return [
        *_depth(pipeline, depth),
        *_stages(pipeline, ingestion),
        *_models(config, models),
        *_language_model(config, pipeline),
    ]


def _depth(pipeline: Pipeline, depth: int) -> Iterator[Problem]:
    where, deepest = str(pipeline.path), pipeline.deepest
    if pipeline.is_composite:
        if depth != 1:
            yield Problem(where, f"gives one composite item; `depth` {depth} must be 1")
    elif deepest is not None and deepest < depth:
        yield Problem(where, f"gives at most {deepest} hits; `depth` {depth} was asked for")


def _stages(pipeline: Pipeline, ingestion: Path) -> Iterator[Problem]:
    stages = ingestion_stages(ingestion)
    for need, stage in _STAGES.items():
        if need in pipeline.needs and stage not in stages:
            yield Problem(str(ingestion), f"lacks the stage `{stage}`, which {pipeline.path} needs")


def _models(config: PydocsConfig, models: Mapping[str, Path | None]) -> Iterator[Problem]:
    for key, model in named_models(config).items():
        hosted = key == "embedding" and config.embedding and not config.embedding.is_local
        # A package that is absent is told by the arm that needs it; a folder is a typing error.
        if not hosted and not is_packaged(model) and models[key] is None:
            yield Problem(f"{key}.model", f"no folder `{model}` beside the sweep or in configs")
    if config.late_interaction is not None and (folder := models["late_interaction"]):
        yield from _token_model(config.late_interaction, folder)


def _token_model(late: LateInteractionConfig, folder: Path) -> Iterator[Problem]:
    shape = token_shape(late, folder)
    where = "late_interaction.model"
    if shape is None and late.model.startswith(TOKENS_OF):
        yield Problem(where, f"`{folder}` holds no encoder: no `hidden_size` in a config.json")
    elif shape is None:
        what = "has no projection, so PyLate would add random weights"
        yield Problem(where, f"`{late.model}` {what}; did you mean `{TOKENS_OF}{late.model}`?")
    elif late.dim not in (None, shape.dim):
        yield Problem("late_interaction.dim", f"the model's vectors are {shape.dim} long")


def _language_model(config: PydocsConfig, pipeline: Pipeline) -> Iterator[Problem]:
    if not pipeline.asks_llm:
        return
    llm, where = config.llm, str(pipeline.path)
    if config.transport == "mcp":
        yield Problem("transport", "`mcp` cannot use an `llm` of this configuration")
    if llm is None:
        yield Problem(where, "asks a language model; `llm` is not configured")
        return
    prices = (llm.usd_per_million_input, llm.usd_per_million_output)
    if llm.max_cost_usd is not None and None in prices:
        yield Problem("llm.max_cost_usd", "needs both prices per million tokens")
