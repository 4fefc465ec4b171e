-- Grain: one row per pair of hit text and gold text, scorer and version.

select
    dataset,
    text_sha256,
    gold_sha256,
    scorer,
    scorer_version,
    floor,
    below_floor,
    text_chars,
    gold_chars,
    score
from {{ source('lake', 'text_scores') }}
