{% macro seen(verbs) %}__fish_seen_subcommand_from {{ verbs }}{% endmacro %}
{% for name, text in commands.items() %}
complete -c treille -n __fish_use_subcommand -f -a {{ name }} -d {{ text | quote_fish }}
{% endfor %}
{% for group, verbs in groups.items() %}
{% for verb, text in verbs.items() %}
complete -c treille -n '{{ seen(group) }}; and not {{ seen(verbs | join(' ')) }}' -f -a {{ verb }} -d {{ text | quote_fish }}
{% endfor %}
{% endfor %}
{% for path, own in options.items() %}
{% set group, _, verb = path.rpartition(' ') %}
{% for option in own %}
complete -c treille -n '
{%- if group %}{{ seen(group) }}; and {{ seen(verb) }}{% else %}{{ seen(verb) }}{% for other in groups %}; and not {{ seen(other) }}{% endfor %}{% endif -%}
' -l {{ option.name[2:] }}{% if option.choices %} -x -a {{ option.choices | join(' ') | quote_fish }}{% endif %} -d {{ option.help | quote_fish }}
{% endfor %}
{% endfor %}
