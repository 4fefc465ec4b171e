{#-
    The smallest true difference that `n` pairs like these show with 80 % power, in points.

    Binary: solved for delta from n = (z sqrt(psi) + z80 sqrt(psi - delta^2))^2 / delta^2, psi the
    share of tasks that only one got right. A delta above psi cannot be shown at all with so few
    tasks. Graded: (z + z80) sd / sqrt(n). NULL where no difference was seen, since then nothing
    says how much tasks differ.

    Source: Connor, Biometrics 43 (1987).
-#}
{% macro stat_minimum_detectable_effect(is_binary, n_discordant, sd, n, confidence) -%}
    {%- set z = '(' ~ stat_normal_quantile((1 + confidence | float) / 2) ~ ')' -%}
    {%- set z80 = 0.8416212335729143 -%}
    case
        when {{ n }} < 2 or {{ sd }} = 0 then null
        when {{ is_binary }} then
            sqrt({{ n_discordant }} / {{ n }}::double) * (
                {{ z }} * sqrt({{ n }}) + {{ z80 }} * sqrt(greatest(0, {{ n }} + {{ z80 }} ** 2 - {{ z }} ** 2))
            ) / ({{ n }} + {{ z80 }} ** 2)
        else ({{ z }} + {{ z80 }}) * {{ sd }} / sqrt({{ n }})
    end
{%- endmacro %}
