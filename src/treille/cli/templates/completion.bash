_treille() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}" words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{{ commands | join(' ') }} --help --version" -- "$word")); return
  fi
  case "$command" in
{% for group, verbs in groups.items() %}
    {{ group }}) if [[ $COMP_CWORD -eq 2 ]]; then COMPREPLY=($(compgen -W "{{ verbs | join(' ') }} --help" -- "$word")); return; fi; command="$command ${COMP_WORDS[2]}" ;;
{% endfor %}
  esac
  case "$command $before" in
{% for path, option in with_values %}
    '{{ path }} {{ option.name }}') COMPREPLY=($(compgen -W {{ option.choices | join(' ') | quote }} -- "$word")); return ;;
{% endfor %}
  esac
  case "$command" in
{% for path, own in options.items() %}
    {{ path | quote }}) words="{{ own | map(attribute='name') | join(' ') }}" ;;
{% endfor %}
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _treille treille
