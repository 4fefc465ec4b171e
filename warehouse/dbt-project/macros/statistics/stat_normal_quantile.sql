{#-
    Quantile of the standard normal distribution for a probability in [0.5, 1 - 1e-11],
    to 1e-15 relative. `p` is a number known when the query is compiled, such as a var.

    Source: Wichura, Algorithm AS 241 (1988), PPND16.
-#}
{% macro stat_normal_quantile(p) -%}
    {%- if p <= 0.925 -%}
        {%- set q = p - 0.5 -%}
        {{ _stat_ratio(0.180625 - q * q, [
            3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
            1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
            3.3430575583588128105e+4, 2.5090809287301226727e+3,
        ], [
            1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
            2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
            5.2264952788528545610e+3,
        ]) }} * {{ q }}
    {%- else -%}
        {{ _stat_ratio('(sqrt(-ln(1 - ' ~ p ~ '::double)) - 1.6)', [
            1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
            3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
            2.27238449892691845833e-2, 7.74545014278341407640e-4,
        ], [
            1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
            1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
            1.05075007164441684324e-9,
        ]) }}
    {%- endif -%}
{%- endmacro %}


{#- Ratio of two polynomials in `x`, coefficients from the constant term up, by Horner's rule. -#}
{% macro _stat_ratio(x, numerator, denominator) -%}
    ({{ _stat_polynomial(x, numerator) }} / {{ _stat_polynomial(x, denominator) }})
{%- endmacro %}


{% macro _stat_polynomial(x, coefficients) -%}
    {%- set text = namespace(value='0::double') -%}
    {%- for coefficient in coefficients | reverse -%}
        {%- set text.value = '(' ~ text.value ~ ' * ' ~ x ~ ' + ' ~ coefficient ~ '::double)' -%}
    {%- endfor -%}
    {{ text.value }}
{%- endmacro %}
