{#-
    One part of every measure's declaration, as a `case` over the column `measure`. A measure is
    declared here and nowhere else; its names and cutoffs are rows of the seed `metric_definitions`.

    reach       The rank that it looks down to; NULL for the whole list. A list that was asked for less
                has no score, from the columns `cutoff` and `n_relevant`.
    units       What its total runs over: `credits` (units that earned a gold item), `gains` (the same,
                with their grade and the ideal), `judged` (units that match any qrel), or `none`.
    total       Aggregate over those units of a list within its reach, with columns `unit_rank`, `nth`
                (the unit's place among those that earned), and for gains `grade` and `ideal_dcg`.
    score       The value in [0, 1], from `total` (NULL where no unit counts) and the list's columns.
    chance      Its expectation under a random order of the corpus's files over `n_files`, `n_drawn` and `n_relevant`; NULL where
                none is known.
    primary_only   Not measured at levels other than the dataset's primary one.
    one_gold       Defined for tasks with exactly one gold item.
    from_signal    Decided by what the system itself said of its coverage, where it says something.
    needs_library  Judges the library that the system chose, not its list.
    shows_zero     A run in which this is 0 for every task is suspect.
-#}
{% macro measure_sql(part) -%}
    {%- set declared = {
        'recall': {
            'total': 'count(*)', 'score': 'coalesce(total, 0) / n_relevant',
            'chance': 'n_drawn / n_files', 'shows_zero': true,
        },
        'success': {
            'total': 'count(*)', 'score': 'if(total > 0, 1, 0)',
            'chance': '1 - ' ~ none_within('n_drawn'), 'shows_zero': true,
        },
        'precision': {
            'total': 'count(*)', 'score': 'coalesce(total, 0) / cutoff',
            'chance': 'n_relevant / n_files * n_drawn / cutoff',
        },
        'rprec': {
            'reach': 'n_relevant', 'total': 'count(*)', 'score': 'coalesce(total, 0) / n_relevant',
            'chance': 'n_relevant / n_files', 'shows_zero': true,
        },
        'rr': {
            'total': '1 / min(unit_rank)', 'score': 'coalesce(total, 0)', 'shows_zero': true,
            'chance': 'list_sum(list_transform(range(1, n_drawn + 1), lambda i: ('
                ~ none_within('(i - 1)') ~ ' - ' ~ none_within('i') ~ ') / i))',
        },
        'ap': {
            'total': 'sum(nth / unit_rank)', 'score': 'coalesce(total, 0) / n_relevant',
            'chance': 'list_sum(list_transform(range(1, n_drawn + 1), lambda i: '
                ~ '(1 + (i - 1) * coalesce((n_relevant - 1) / nullif(n_files - 1, 0), 0)) / i))'
                ~ ' / n_files',
        },
        'ndcg': {
            'units': 'gains', 'score': 'coalesce(total, 0)',
            'total': dcg('unit_rank', 'grade') ~ ' / any_value(ideal_dcg)',
            'chance': 'total_grade / n_files * list_sum(list_transform(range(1, n_drawn + 1), '
                ~ 'lambda i: 1 / log2(i + 1))) / ideal_dcg',
        },
        'judged': {
            'units': 'judged', 'total': 'count(*)', 'primary_only': true,
            'score': 'coalesce(total / nullif(least(cutoff, n_units), 0), 0)',
        },
        'coverage': {
            'total': 'count(*)', 'primary_only': true, 'from_signal': true,
            'score': 'if(coalesce(covered, total > 0, false), 1, 0)',
            'chance': '1 - ' ~ none_within('n_drawn'),
        },
        'library_resolution': {
            'units': 'none', 'total': 'null', 'primary_only': true, 'needs_library': true,
            'score': 'if(answered_library = library, 1, 0)', 'shows_zero': true,
        },
        'needle': {
            'total': 'count(*) filter (where unit_rank = 1)', 'score': 'if(total > 0, 1, 0)',
            'primary_only': true, 'one_gold': true, 'chance': '1 / n_files',
        },
    } -%}
    {%- set defaults = {'reach': 'cutoff', 'units': 'credits', 'chance': 'null'} -%}
    {%- set quote = "'" if part == 'units' else '' -%}
    {%- set branches = [] -%}
    {%- for measure, parts in declared.items() -%}
        {%- set value = quote ~ parts.get(part, defaults.get(part, 'false')) ~ quote -%}
        {%- do branches.append("when '" ~ measure ~ "' then " ~ value) -%}
    {%- endfor -%}
    case measure {{ branches | join(' ') }} end
{%- endmacro %}
