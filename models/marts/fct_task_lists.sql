-- Grain: one row per run and attempted task: its answer as a whole.

{{ config(materialized='incremental') }}

with attempts as (
    select * from {{ ref('stg_attempts') }}
),

hits as (
    select * from {{ ref('stg_hits') }}
),

lost as (
    select * from {{ ref('int_lost_lists') }}
),

-- What relevance can depend on. A system's own id of an item counts only where the item says
-- nothing else of itself: ids may be those of an index that was built anew.
placed as (
    select
        run_id,
        task_id,
        raw_path,
        path_status,
        md5_number(concat_ws(
            chr(31),
            rank,
            coalesce(path, '? ' || raw_path, ''),
            coalesce(start_line, -1),
            coalesce(end_line, -1),
            coalesce(qualified_name, ''),
            coalesce(doc_id, ''),
            coalesce(text_sha256, ''),
            if(coalesce(path, raw_path, qualified_name, doc_id, text_sha256) is null, item_id, '')
        )) as place_hash
    from hits
),

-- Every rank stands in a list once, so that no two places cancel each other out.
listed as (
    select
        run_id,
        task_id,
        cast(bit_xor(place_hash) as varchar) as places,
        count(raw_path) as n_paths,
        count(*) filter (where path_status = 'unresolved') as n_unresolved
    from placed
    group by run_id, task_id
)

select
    attempts.run_id,
    attempts.task_id,
    attempts.status,
    attempts.n_hits,
    coalesce(listed.n_paths, 0) as n_paths,
    coalesce(listed.n_unresolved, 0) as n_unresolved,
    case
        when attempts.status in {{ words('answered') }} and lost.task_id is null
            then md5(concat_ws(
                chr(31),
                coalesce(listed.places, ''),
                coalesce(cast(attempts.covered as varchar), ''),
                coalesce(attempts.resolved_library, '')
            ))
    end as list_digest
from attempts
left join listed
    on attempts.run_id = listed.run_id
    and attempts.task_id = listed.task_id
left join lost
    on attempts.run_id = lost.run_id
    and attempts.task_id = lost.task_id
