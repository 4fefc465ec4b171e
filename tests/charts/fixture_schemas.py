"""The marts' columns that charts and reports read, as design.md and the models name them."""

from __future__ import annotations

import pyarrow as pa

_S, _I, _F, _B, _T = pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us")


def _columns(kind: pa.DataType, names: str) -> dict[str, pa.DataType]:
    return dict.fromkeys(names.split(), kind)


SCHEMAS: dict[str, dict[str, pa.DataType]] = {
    "dim_runs": {
        **_columns(_S, "run_id arm_hash arm_label system system_version dataset edition split"),
        **_columns(_I, "depth"),
        **_columns(_S, "query_variant output sweep_id family role status"),
        **_columns(_T, "started_at finished_at"),
        **_columns(_S, "git_sha config_json adapter_version primary_metric device command"),
        **_columns(_S, "evalake_version packages_json host_json"),
        **_columns(_I, "n_tasks jobs seed repeat"),
        **_columns(_B, "network_blocked git_dirty"),
    },
    "dim_run_families": {
        **_columns(_S, "run_id family sweep_id role primary_metric"),
        **_columns(_T, "joined_at"),
    },
    "dim_baselines": {
        **_columns(_S, "baseline_run_id run_id file sha256 arm_hash arm_label system"),
        **_columns(_S, "system_version dataset edition split primary_metric"),
        **_columns(_I, "n_tasks"),
        **_columns(_S, "status"),
        **_columns(_T, "started_at"),
    },
    "dim_tasks": {
        **_columns(_S, "dataset edition task_id kind query repo library qa_type corpus_id"),
        **_columns(_I, "n_relevant task_seed"),
        **_columns(_S, "stratum labels_json"),
    },
    "fct_hits": {
        **_columns(_S, "run_id task_id"),
        **_columns(_I, "rank unit_rank"),
        **_columns(_S, "item_id path"),
        **_columns(_I, "start_line end_line"),
        **_columns(_F, "score"),
        **_columns(_B, "relevant"),
        **_columns(_I, "grade"),
        **_columns(_S, "gold_id"),
        **_columns(_B, "credited"),
        **_columns(_S, "relation level path_status qualified_name doc_id title text_sha256 branch"),
    },
    "fct_task_metrics": {
        **_columns(_S, "run_id task_id metric measure"),
        **_columns(_I, "cutoff"),
        **_columns(_S, "level"),
        **_columns(_F, "value"),
        **_columns(_S, "null_reason"),
        **_columns(_B, "truncated"),
    },
    "fct_run_metrics": {
        **_columns(_S, "run_id metric level"),
        **_columns(_I, "n_tasks n_scored"),
        **_columns(_F, "mean mean_strict ci_low ci_high wilson_low wilson_high"),
        **_columns(_F, "cluster_low cluster_high"),
        **_columns(_I, "n_clusters"),
        **_columns(_F, "chance"),
    },
    "fct_run_breakouts": {
        **_columns(_S, "run_id dimension value metric"),
        **_columns(_I, "n_scored"),
        **_columns(_F, "mean ci_low ci_high"),
    },
    "fct_run_latency": {
        **_columns(_S, "run_id phase temperature"),
        **_columns(_I, "n"),
        **_columns(_F, "p50_s p95_s p99_s"),
    },
    "fct_run_completeness": {
        **_columns(_S, "run_id"),
        **_columns(_I, "n_tasks n_ok n_empty n_error n_timeout n_not_attempted n_dropped"),
        **_columns(_B, "suspect"),
        **_columns(_S, "silent_branches"),
    },
    "fct_paired_tests": {
        **_columns(
            _S, "family baseline_run_id candidate_run_id baseline_kind baseline_file metric"
        ),
        **_columns(_I, "n_pairs only_baseline only_candidate"),
        **_columns(_F, "mcnemar_p mcnemar_midp mean_diff diff_low diff_high sign_flip_p"),
        **_columns(_F, "p_holm mde"),
        **_columns(_S, "verdict"),
    },
    "fct_looks": {
        **_columns(_S, "run_id"),
        **_columns(_T, "looked_at"),
        **_columns(_S, "dataset split arm_hash family who why"),
        **_columns(_B, "confirmatory"),
        **_columns(_S, "batch"),
    },
}
