from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from evalake_runners.adapters.pydocs_mcp.pipelines import ingestion_stages, read_pipeline
from evalake_warehouse.errors import ConfigError
from evalake_warehouse.project import find_project_dir

SHIPPED = find_project_dir() / "configs" / "pipelines"
CONDITIONS = sorted(SHIPPED.glob("*.yaml"))
DATASETS = ("repoqa", "swe-", "swe_", "starter", "ds1000", "odex", "conala")


def written(tmp_path: Path, *steps: dict[str, Any]) -> Path:
    path = tmp_path / "pipeline.yaml"
    path.write_text(yaml.safe_dump({"name": "p", "steps": list(steps)}))
    return path


def step(kind: str, **params: Any) -> dict[str, Any]:
    return {"name": kind, "type": kind, "params": params}


@pytest.mark.parametrize("path", CONDITIONS, ids=lambda path: path.stem)
def test_a_shipped_condition_is_named_by_what_it_does_and_loads_in_pydocs_mcp(
    path: Path, tmp_path: Path
) -> None:
    from pydocs_mcp.retrieval.config import AppConfig
    from pydocs_mcp.retrieval.factories import build_retrieval_context
    from pydocs_mcp.retrieval.pipeline import CodeRetrieverPipeline

    pipeline = read_pipeline(path)
    assert pipeline.document["name"] == path.stem
    assert not any(name in path.read_text().lower() for name in DATASETS)
    anything: Any = object()
    context = build_retrieval_context(
        tmp_path / "none.db",
        AppConfig(),
        embedder=anything,
        multi_vector_embedder=anything,
        llm_client=anything,
    )
    loaded = CodeRetrieverPipeline.from_dict(dict(pipeline.document), context)
    assert len(loaded.stages) == len(pipeline.document["steps"])


@pytest.mark.parametrize("path", CONDITIONS, ids=lambda path: path.stem)
def test_a_shipped_condition_gives_a_hundred_hits(path: Path) -> None:
    pipeline = read_pipeline(path)
    assert pipeline.deepest == (8 if pipeline.is_composite else 100)


def test_the_shortest_cap_limits_a_list(tmp_path: Path) -> None:
    steps = [step("chunk_fetcher", limit=40), step("top_k_filter", k=30), step("limit")]
    assert read_pipeline(written(tmp_path, *steps[:2])).deepest == 30
    assert read_pipeline(written(tmp_path, *steps)).deepest == 8  # the step's own default
    widened = [step("chunk_fetcher", limit=5), step("top_k_filter", k=30)]
    assert read_pipeline(written(tmp_path, *widened)).deepest == 5


def test_fused_branches_are_sure_of_the_longest_one_only(tmp_path: Path) -> None:
    short = {"name": "a", "steps": [step("chunk_fetcher", limit=10)]}
    longer = {"name": "b", "steps": [step("dense_fetcher", limit=25)]}
    fused = written(tmp_path, step("parallel_retrieval", branches=[short, longer]))
    assert read_pipeline(fused).deepest == 25
    assert read_pipeline(fused).needs == {"fts_rows", "vectors"}


def test_steps_inside_other_steps_count_as_needs(tmp_path: Path) -> None:
    inner = {"type": "llm_tree_reasoning", "name": "tree"}
    pipeline = read_pipeline(written(tmp_path, step("conditional", stage=inner)))
    assert pipeline.asks_llm
    assert pipeline.needs == {"trees"}


@pytest.mark.parametrize("text", ["steps: 3", "- a", "a: [", "name: x", "steps: [{name: y}]"])
def test_a_file_that_is_no_pipeline_is_a_configuration_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"broken\.yaml"):
        read_pipeline(path)
    with pytest.raises(ConfigError, match=r"broken\.yaml"):
        ingestion_stages(path)


def test_every_need_has_an_ingestion_pipeline_that_makes_it() -> None:
    made = {path.stem: ingestion_stages(path) for path in (SHIPPED / "ingestion").glob("*.yaml")}
    assert "embed_chunks" in made["dense"]
    assert "embed_chunks_multi_vector" in made["late_interaction"]
    assert not any("embed" in stage for stage in made["lexical"])
    assert all("reference_capture" in stages for stages in made.values())
