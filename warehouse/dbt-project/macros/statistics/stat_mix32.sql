{#-
    Scramble a 32-bit word held in a UBIGINT: the mixer of statistics/mixer.py, bit for bit.

    Products of two 32-bit numbers fit 64 bits, so nothing overflows. Each lambda names its word
    once, which keeps the expression small however often it is nested.
-#}
{% macro stat_mix32(word) -%}
    list_transform(list_transform(list_transform(
        [cast({{ word }} as ubigint)],
        lambda w: (xor(w, w >> 16) * cast(2146121005 as ubigint)) % cast(4294967296 as ubigint)),
        lambda w: (xor(w, w >> 15) * cast(2221713035 as ubigint)) % cast(4294967296 as ubigint)),
        lambda w: xor(w, w >> 16)
    )[1]
{%- endmacro %}
