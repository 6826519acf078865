"""Options of programs that may follow the words of a rule.

An option can make a harmless program write a file or start another program, as C{git diff
--output=FILE} does. So only options that are listed here may follow; all others must stand in the
rule itself. This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tservice.agents.approvals.rules.command_parser import split_names

_ANY = "-q -v -vv -vvv --help --quiet --verbose --version --no-color"
_GIT_PATHS = "-- --name-only --name-status --numstat --oneline --shortstat --stat -n -p -z --all"

_OPTIONS = {
    "git status": "-s -b -sb -u -uno -uall --short --branch --porcelain --long --ignored"
                  " --untracked-files --no-renames --show-stash",
    "git log": f"{_GIT_PATHS} --graph --decorate --no-decorate --no-merges --merges --reverse"
               " --follow --patch --no-patch --max-count --since --until --after --before --author"
               " --grep --format --pretty --date --abbrev-commit --first-parent --cached -i",
    "git diff": f"{_GIT_PATHS} --cached --staged --check --patch --unified --word-diff -U -w -b"
                " --no-ext-diff --no-textconv --no-renames --diff-filter --minimal --patience"
                " --histogram --exit-code --raw --summary --merge-base",
    "git show": f"{_GIT_PATHS} --patch --no-patch --format --pretty --date --abbrev-commit -s",
    "git blame": "-L -w -C -M -s -e --porcelain --line-porcelain --date --",
    "git branch": "-a -r -l --all --list --show-current --merged --no-merged --contains --sort",
    "git ls-files": "-c -d -m -o -s -u -z --cached --deleted --modified --others --stage"
                    " --exclude-standard --",
    "git rev-parse": "--abbrev-ref --short --show-toplevel --git-dir --is-inside-work-tree"
                     " --verify --symbolic-full-name --show-prefix",
    "ls": "-1 -a -A -d -F -h -l -la -al -lah -lh -ltr -lt -r -R -S -t -1a --all --almost-all"
          " --directory --human-readable --recursive --reverse --sort --time --color --",
    "cat": "-n -b -A -E -T -s --number --show-all --",
    "head": "-n -c --lines --bytes --",
    "tail": "-n -c --lines --bytes --",
    "wc": "-l -w -c -m -L --lines --words --bytes --chars --max-line-length --",
    "pwd": "-L -P",
    "du": "-a -c -h -s -sh -d --max-depth --human-readable --summarize --",
    "df": "-h -T -i --human-readable",
    "stat": "-c -f -t --format --printf --",
    "file": "-b -i --brief --mime --mime-type --",
    "diff": "-u -r -N -q -w -b -B -y -ru -rq --unified --recursive --brief --side-by-side --",
    "grep": "-r -R -n -i -v -l -L -c -o -w -x -E -F -P -A -B -C -H -e -m -s -rn -rni -rin -ri -rl"
            " -nr -in -ni -rnE -nE -rnw --recursive --line-number --ignore-case --invert-match"
            " --files-with-matches --count --only-matching --word-regexp --extended-regexp"
            " --fixed-strings --include --exclude --exclude-dir --color --context --after-context"
            " --before-context --max-count --",
    "rg": "-n -i -v -l -c -o -w -x -F -P -A -B -C -H -e -m -S -s -t -T -g -u -uu -uuu -U"
          " --line-number --ignore-case --invert-match --files --files-with-matches --count"
          " --only-matching --word-regexp --fixed-strings --type --type-not --glob --hidden"
          " --no-ignore --max-count --max-depth --context --after-context --before-context --sort"
          " --smart-case --multiline --color --heading --no-heading --stats --",
    "tree": "-a -d -f -L -I -P --dirsfirst --gitignore --noreport",
    "pytest": "-x -s -l -k -m -ra -rA -rs -vvv -qq --lf --ff --last-failed --failed-first"
              " --maxfail --exitfirst --collect-only --co --durations --tb --no-header"
              " --no-summary --showlocals --stepwise --strict-markers",
    "cargo test": "--all --workspace --release --lib --bins --no-run --no-fail-fast --all-features"
                  " --features -p --package --test --",
    "go test": "-run -count -race -short -timeout -cover -bench -failfast -parallel",
    "mypy": "--strict -p -m --pretty --show-error-codes --no-error-summary",
    "tsc": "--noEmit",
}  # fmt: skip


_COMMON = split_names(_ANY)
_KNOWN = {tuple(program.split()): split_names(names) for program, names in _OPTIONS.items()}
_COUNT = re.compile(r"-\d{1,9}")
_COUNTED = frozenset({"git log", "head", "tail", "grep"})


def is_inert_option(words: Sequence[str], option: str) -> bool:
    """Return true if an option neither writes a file nor starts a program.

    @param words: the command that has the option.
    @param option: a word that begins with a dash.
    """
    name = option.partition("=")[0] if option.startswith("--") else option
    if name in _COMMON and name == option:
        return True
    for length in (2, 1):
        names = _KNOWN.get(tuple(words[:length]))
        if names is not None:
            counted = " ".join(words[:length]) in _COUNTED and _COUNT.fullmatch(option)
            return name in names or bool(counted)
    return False
