-- Grain: one row per family, dataset, edition, split, baseline, candidate run, label and value of
-- the label: the candidate against the baseline on the primary metric. Exploratory: p is adjusted
-- over all values of a label by Benjamini and Hochberg, and verdicts go by that.

{{ config(materialized='incremental') }}

with pairs as (
    select * from {{ ref('int_pairs') }}
),

measures as (
    select * from {{ ref('int_pair_measures') }}
    where dimension is not null
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
    dimension,
    dimension_value as value,  -- noqa: RF04
    metric,
    n_pairs,
    baseline_mean,
    candidate_mean,
    only_baseline,
    only_candidate,
    mean_diff,
    diff_low,
    diff_high,
    test,
    p_value,
    p_bh,
    mde,
    verdict
from tests
