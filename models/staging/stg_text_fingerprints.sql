-- Grain: one row per distinct hit text and rule.

select
    dataset,
    text_sha256,
    rule_version,
    status,
    fingerprint
from {{ source('lake', 'text_fingerprints') }}
