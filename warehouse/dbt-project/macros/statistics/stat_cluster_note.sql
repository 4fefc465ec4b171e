{#-
    `insufficient` where under 5 strata have too little to say of strata not seen; else NULL, also
    where a dataset has no strata. With two, t has one degree of freedom.
-#}
{% macro stat_cluster_note(n_clusters) -%}
    case when {{ n_clusters }} < 5 then 'insufficient' end
{%- endmacro %}
