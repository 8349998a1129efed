# Completion of urepo in bash. The script of clap_complete breaks words at `=`, `:` and `@`, inserts names as several words if
# they have blanks, and expands those with `*`.
_urepo_complete() {
    local line=$COMP_LINE word index words=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        local piece=$word
        # Up to the cursor. A lone `=`, `:` or `@` is a word to bash, and `$2` is empty after it.
        if ((index == COMP_CWORD)) && [[ -z $word || -n ${word//[=:@]/} ]]; then
            piece=$2
        fi
        if ((index > 0)) && [[ $line != [[:blank:]]* ]]; then
            words[${#words[@]}-1]+=$piece
        else
            words+=("$piece")
        fi
        while [[ $line == [[:blank:]]* ]]; do
            line=${line:1}
        done
        line=${line#"$word"}
    done
    local last=$((${#words[@]} - 1))
    # The part of the word that bash keeps: it replaces the part after the last `=`, `:` or `@`.
    local kept=${words[last]%"$2"}
    for index in "${!words[@]}"; do
        word=${words[index]}
        case $word in
            [\'\"]*)
                word=${word:1}
                word=${word%[\'\"]}
                ;;
            *) word=${word//\\/} ;;
        esac
        words[index]=$word
    done
    local candidates=()
    IFS=$'\v' read -r -d '' -a candidates < <(
        _CLAP_IFS=$'\v' \
        _CLAP_COMPLETE_INDEX=$last \
        UREPO_COMPLETE=bash \
        urepo -- "${words[@]}" 2> /dev/null
    )
    COMPREPLY=()
    local candidate
    for candidate in "${candidates[@]}"; do
        COMPREPLY+=("${candidate#"$kept"}")
        # readline quotes what is a file name to it.
        if [[ $candidate == *[[:space:]\'\"\\\$\`\&\;\(\)\<\>\|\*\?\[\!\#\{\~]* ]]; then
            compopt -o filenames 2> /dev/null
        fi
    done
    # A space ends a word, but not a directory or the name of an option with a value.
    if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} != *[=/:] ]]; then
        compopt +o nospace 2> /dev/null
    fi
}
complete -o nospace -o bashdefault -F _urepo_complete urepo
# Candidates come in the order of their use, which bash knows to keep since version 4.4.
complete -o nospace -o bashdefault -o nosort -F _urepo_complete urepo 2> /dev/null || true
