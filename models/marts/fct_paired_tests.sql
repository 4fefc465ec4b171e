-- Grain: one row per family, dataset, edition, split, baseline, candidate run and metric: the
-- candidate against the family's baseline, or against a frozen one, on their common tasks.

{{ config(materialized='incremental') }}

with pairs as (
    select * from {{ ref('int_pairs') }}
),

measures as (
    select * from {{ ref('int_pair_measures') }}
    where dimension is null
),

lists as (
    select * from {{ ref('int_pair_lists') }}
),

suspects as (
    select * from {{ ref('int_suspects') }}
),

tests as (
    {{ paired_tests('pairs', 'measures', 'lists', 'suspects') }}
)

select
    family,
    dataset,
    edition,
    split,
    baseline_run_id,
    candidate_run_id,
    baseline_kind,
    baseline_file,
    baseline_sha256,
    baseline_depth,
    candidate_depth,
    baseline_suspect,
    candidate_suspect,
    metric,
    measure,
    level,
    is_binary,
    is_primary,
    n_pairs,
    n_baseline_scored,
    n_candidate_scored,
    n_baseline_failed,
    n_candidate_failed,
    n_common_lists,
    n_same_lists,
    baseline_mean,
    candidate_mean,
    only_baseline,
    only_candidate,
    mcnemar_p,
    mcnemar_midp,
    mean_diff,
    diff_low,
    diff_high,
    adjusted_low,
    adjusted_high,
    cluster_diff_low,
    cluster_diff_high,
    n_clusters,
    design_effect,
    interval_note,
    cluster_note,
    sign_flip_p,
    test,
    p_value,
    n_tests,
    p_holm,
    p_bh,
    mde,
    verdict
from tests
