-- Grain: one row per family, dataset, edition, split, candidate run, label and value of the label:
-- the candidate against the baseline on the primary metric. Exploratory: p is adjusted over all
-- values of a label by Benjamini and Hochberg, and verdicts go by that.

{{ config(materialized='incremental', incremental_strategy='replace_families') }}

with pairs as (
    select * from {{ ref('int_pairs') }}
),

slices as (
    select * from {{ ref('int_paired_slices') }}
    where dimension is not null
),

task_metrics as (
    select * from {{ ref('fct_task_metrics') }}
),

intervals as (
    select * from {{ ref('int_intervals') }}
),

definitions as (
    select * from {{ ref('metric_definitions') }}
),

tests as (
    {{ paired_tests(
        pairs='pairs',
        differences='slices',
        task_metrics='task_metrics',
        intervals='intervals',
        definitions='definitions',
        kind='pair_breakout',
    ) }}
)

select
    family,
    dataset,
    edition,
    split,
    baseline_run_id,
    candidate_run_id,
    dimension,
    dimension_value as value,
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
