{% macro described(pairs) %}
{% for name, text in pairs %}{{ (name ~ ':' ~ text.replace(':', ' ')) | quote }}{{ '' if loop.last else ' ' }}{% endfor %}
{% endmacro %}
#compdef treille
_treille() {
  local -a names
  local command="${words[2]}"
  if (( CURRENT == 2 )); then names=({{ described(commands.items()) }}); _describe command names; return; fi
  case "$command" in
{% for group, verbs in groups.items() %}
    {{ group }}) if (( CURRENT == 3 )); then names=({{ described(verbs.items()) }}); _describe command names; return; fi; command="$command ${words[3]}" ;;
{% endfor %}
  esac
  case "$command ${words[CURRENT-1]}" in
{% for path, option in with_values %}
    '{{ path }} {{ option.name }}') compadd -Q -S '' -- {{ option.choices | map('quote') | join(' ') }}; return ;;
{% endfor %}
  esac
  case "$command" in
{% for path, own in options.items() %}
    {{ path | quote }}) names=({{ described(own | map(attribute='described')) }}) ;;
{% endfor %}
  esac
  if [[ $PREFIX == -* ]]; then _describe option names; else _files; fi
}
if [[ $funcstack[1] == _treille ]]; then _treille "$@"; else compdef _treille treille; fi
