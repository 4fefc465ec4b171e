{#-
    Bootstrap weight of a task in a resample: a Poisson(1) number from 0 to 12, BIGINT, from
    (task_seed, resample, seed) alone. The models take weights from numpy, five times as fast;
    this states in SQL what those are, and a test holds the two to the same bits.
-#}
{% macro stat_poisson_weight(task_seed, resample, seed) -%}
    {%- set draw = 'cast(' ~ resample ~ ' as ubigint)' -%}
    {%- set draw_key = stat_mix32('xor(' ~ stat_mix32(stat_mix32(seed)) ~ ', ' ~ draw ~ ')') -%}
    {%- set low = 'cast(' ~ task_seed ~ ' & 4294967295 as ubigint)' -%}
    {%- set high = 'cast(' ~ task_seed ~ ' >> 32 as ubigint)' -%}
    {%- set low_word = stat_mix32('xor(' ~ draw_key ~ ', ' ~ low ~ ')') -%}
    list_transform(
        [{{ stat_mix32('xor(' ~ low_word ~ ', ' ~ high ~ ')') }}],
        lambda word: cast(len(list_filter(
            [
                1580030169, 3160060337, 3950075422, 4213413783, 4279248374, 4292415292,
                4294609778, 4294923276, 4294962463, 4294966817, 4294967253, 4294967292
            ],
            lambda threshold: word >= threshold
        )) as bigint)
    )[1]
{%- endmacro %}
