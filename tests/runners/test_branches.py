"""A branch that never contributed is told, through the engine, the build and every reader."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from driving import arm, run
from tests.pydocs.fake_llm import FakeLlm, picks, serve
from toy import evalake, rows

from evalake_runners.adapters.bm25 import Bm25System
from evalake_runners.sweeps.arms import Arm, ArmSpec, bind
from evalake_runners.workers.blobs import Blob
from evalake_warehouse.build.protocol import build
from evalake_warehouse.errors import UsageError
from evalake_warehouse.project import Project
from evalake_warehouse.questions.open_warehouse import open_warehouse

SILENT = "no hit came from branch llm_tree; the scores are those of the other branches"


def reranking(toy: Project, fake: FakeLlm, label: str) -> ArmSpec:
    settings = {
        "base_url": fake.base_url, "model": "m", "api_key_env": None, "prompt_size": "estimate",
    }  # fmt: skip
    config = {"pipeline": "pipelines/lexical_tree_rerank.yaml", "llm": settings}
    return ArmSpec(label, "pydocs-mcp", config, depth=5, base_dirs=(toy.configs,))


@pytest.mark.dbt
def test_a_reranker_that_never_ranked_is_told_wherever_its_score_is_shown(toy: Project) -> None:
    # The first model picks nothing. The other always picks module 3, which answers task 3 alone.
    with serve(FakeLlm([picks()])) as mute, serve(FakeLlm([picks("pkg.mod_03")])) as heard:
        run(toy, reranking(toy, mute, "mute"), family="f")
        run(toy, reranking(toy, heard, "heard"), family="f")
    assert {row["branches_json"] for row in rows(toy, "runs")} == {'["llm_tree"]'}
    build(toy)
    with open_warehouse(toy) as connection:
        counted = connection.execute(
            "select arm_label, branch, declared, branches.n_tasks, n_hits, n_first, n_credited, "
            "n_credited_alone from fct_run_branches as branches "
            "join dim_runs using (run_id) order by 1 desc, 2"
        ).fetchall()
        told = connection.execute(
            "select arm_label, suspect, silent_branches from fct_run_completeness "
            "join dim_runs using (run_id) order by 1 desc"
        ).fetchall()
    # 12 tasks of 5 hits each; BM25 finds every answer. A pick takes the first of the 5 places.
    assert counted == [
        ("mute", "bm25", False, 12, 60, 12, 12, 12),
        ("mute", "llm_tree", True, 0, 0, 0, 0, 0),
        ("heard", "bm25", False, 12, 48, 0, 11, 11),
        ("heard", "llm_tree", True, 12, 12, 12, 1, 1),
    ]
    assert told == [("mute", False, "llm_tree"), ("heard", False, None)]

    shown = evalake(toy, "runs", "show", "mute")
    assert (shown.code, SILENT in shown.out) == (0, True)
    as_json = json.loads(evalake(toy, "runs", "show", "mute", "--json").out)
    assert as_json["completeness"][0]["silent_branches"] == "llm_tree"
    assert [(row["branch"], row["n_hits"]) for row in as_json["branches"]] == [
        ("bm25", 60),
        ("llm_tree", 0),
    ]
    assert "warning" not in evalake(toy, "runs", "show", "heard").err
    board = evalake(toy, "leaderboard", "--family", "f")
    assert (board.code, board.out.count(SILENT)) == (0, 1)
    for command in ("compare", "gate"):
        told = evalake(toy, command, "heard", "mute").err
        assert told.count(f"warning: candidate mute: {SILENT}") == 1


def test_what_a_system_declares_changes_no_arm(toy: Project, monkeypatch: Any) -> None:
    def bound(branches: object, **changed: Any) -> Arm:
        monkeypatch.setattr(Bm25System, "branches", branches)
        spec = replace(arm("bm25", depth=1), **changed)
        return bind(spec, dataset="d", edition="e", seed=0, project=toy)

    plain, declared = bound(()), bound(["words", "names", "words"])
    assert (plain.branches, declared.branches) == ((), ("names", "words"))
    assert (plain.arm_hash, plain.ingestion_hash) == (declared.arm_hash, declared.ingestion_hash)
    assert bound(["words"], blob=Blob(90, 5)).branches == ()  # one text may be of several
    with pytest.raises(UsageError, match="bm25: `branches` must be a list of names"):
        bound("words")
