"""Fixed list of what no rule may allow, unless it names exactly that command
(protocol-approval-rules).

This module does no I/O.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from tservice.agents.approvals import risk_rules
from tservice.agents.approvals.risk import find_risk
from tservice.agents.approvals.rules.command_parser import split_names
from tservice.agents.approvals.rules.inert_options import is_inert_option

RUNNER = "it runs other programs"
RECURSIVE = "it deletes whole folders"
OUTSIDE = "it names a place outside the session's folder"
SECRET = "it names credentials"  # noqa: S105
GUARDED = "it changes what runs unasked"
OPTION = "it has an option that the rule does not name"
EXPANDED = "it has an argument that its program may take for a setting"
HOST = "it names a place on the network that the rule does not name"
RISKY = "it is riskier than the words of the rule"

_RUNNERS = re.compile(
    rf"{risk_rules.SHELLS.pattern}|{risk_rules.WRAPPERS.pattern}"
    r"|su|pkexec|run0|sudoedit|runuser|csh|tcsh|pwsh|osascript|at|batch|crontab|dd|mkfs\S*|parted"
    r"|fdisk|npx|bunx|pnpx|uvx|pipx|awk|gawk|mawk|gdb|lldb|ltrace|perf|make-kpkg|rlwrap|expect"
    r"|socat|nc|ncat|netcat|telnet|tclsh|wish|m4|sed|ed|ex|vi|vim|nvim|view|emacs|less|more|man"
    r"|firejail|bwrap|proot|fakeroot|faketime|dbus-run-session|dbus-launch|taskset|chrt|prlimit"
    r"|tar|bsdtar|cpio|sqlite3|psql|mysql|mariadb|redis-cli|mongo|mongosh|duckdb|clickhouse-client"
    r"|ftp|sftp|gnuplot|dc|ssh-agent|xvfb-run|direnv|dotenv|nodemon|concurrently|cross-env|tsx"
    r"|ts-node|npm-run-all|run-p|run-s|hyperfine|valgrind|cpulimit|chronic|dtach|abduco|daemonize"
    r"|coverage|mosh|rsh|pssh|flatpak-spawn|distrobox|machinectl|lxc|incus|ansible-\w+"
    r"|setpriv|start-stop-daemon|ionice|logsave|pdsh|ansible|setarch|linux\d\d|sg|newgrp|toolbox"
)
"""Programs that run what their arguments or their input hold."""
_INTERPRETERS = re.compile(
    rf"{risk_rules.INTERPRETERS.pattern}|pypy[\d.]*|java|Rscript|julia|R|ghci?|guile|racket|sbcl|clisp|ocaml"
    r"|elixir|iex|erl|escript|groovy|scala|kotlin|swift|ipython|octave"
)
_WRITERS = re.compile(r"rm|rmdir|unlink|shred|srm|mv|cp|ln|install|tee|truncate|chmod|chown|chgrp")
_DELETERS = re.compile(r"rm|rmdir|shred|srm|rimraf")
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
_SECRETS = re.compile(
    r"(?:^|/)(?:\.ssh|\.aws|\.azure|\.gnupg|\.kube|\.docker|\.gcloud|\.password-store|\.config/gh"
    r"|\.config/gcloud)(?:/|$)"
    r"|(?:^|/)(?:\.netrc|\.pgpass|\.npmrc|\.pypirc|\.git-credentials|\.vault-token|\.my\.cnf"
    r"|\.htpasswd|\.boto|\.s3cfg|credentials|credentials\.\w+|\.credentials\.\w+"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)\w*|[^/]*\.(?:pem|p12|pfx|key|keystore|jks|kdbx|ppk)"
    r"|\.env(?:\.[\w.-]+)?|shadow|gshadow|sudoers|master\.key|secrets?\.\w+)$",
    re.IGNORECASE,
)
_GUARDED = re.compile(
    r"(?:^|/)(?:\.git|\.hg|\.svn|\.claude|\.codex|\.gemini|\.cursor|\.vscode|\.idea|\.husky|\.ssh"
    r"|\.github/workflows|\.config|\.devcontainer)(?:/|$)"
    r"|(?:^|/)(?:\.mcp\.json|\.envrc|\.tservice\.ya?ml|\.bash\w*|\.zsh\w*|\.profile|\.gitconfig"
    r"|\.gitattributes|\.gitmodules|\.claude\.json|sitecustomize\.py|usercustomize\.py"
    r"|conftest\.py|\.pythonrc\w*|\.yarnrc\S*|\.npmrc|\.pnp\.\w+|\.pre-commit-config\.ya?ml)$",
    re.IGNORECASE,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_SPLIT = re.compile(r"[=:@,]")


_PARTED = split_names(
    """
    git hg jj svn npm pnpm yarn bun deno cargo go make gmake just task rake gradle gradlew mvn mvnw
    docker podman kubectl helm gh glab pip pip3 poetry pipenv uv rye hatch pdm dotnet rails artisan
    terraform tofu aws gcloud az apt apt-get dnf yum brew snap nix conda composer bundle mix nx
    turbo lerna tox nox invoke fab systemctl service openssl ip nmcli vagrant heroku fly flyctl
    """
)
"""Programs whose first argument chooses among many actions, so that a rule must name it."""
_RUNS_SCRIPT = {
    "npm": "run run-script",
    "pnpm": "run",
    "yarn": "run workspace workspaces",
    "bun": "run",
    "deno": "task run",
    "composer": "run run-script",
    "rails": "runner",
    "nx": "run",
    "turbo": "run",
}
"""Actions whose first argument is a script, so that a rule must name that too."""
_RUNS_PROGRAM = {
    "git": "bisect submodule filter-branch filter-repo difftool mergetool config send-email daemon"
           " instaweb credential hook for-each-repo",
    "npm": "exec x create init explore edit config set",
    "pnpm": "exec x dlx create config",
    "yarn": "exec dlx create node config",
    "bun": "x create exec",
    "deno": "eval",
    "cargo": "install",
    "go": "run generate tool install",
    "uv": "run tool x",
    "poetry": "run shell",
    "pipenv": "run shell",
    "rye": "run",
    "hatch": "run",
    "pdm": "run",
    "bundle": "exec",
    "composer": "exec",
    "dotnet": "exec tool script",
    "conda": "run",
    "gh": "alias extension api",
    "nix": "run shell develop",
    "kubectl": "exec",
    "docker": "run exec",
    "podman": "run exec",
}  # fmt: skip
"""Actions that run what their arguments name."""
_REACHERS = split_names("curl wget aria2c http https xh scp rsync rclone nslookup dig host ping")
"""Programs whose arguments name places on the network, where they may also send something."""
_READERS = split_names("cat head tail ls grep rg wc stat file git diff tree du")
"""Programs that may name files that run something, because they do not write to them."""


def find_command_limit(
    words: Sequence[str], named: Sequence[bool], working_dir: str, cwd: str | None
) -> str | None:
    """Return why a rule may not allow a command that it matches; C{None} if it may.

    @param words: the program and its arguments.
    @param named: for each word, true if the rule names it literally.
    @param cwd: the agent's current folder; C{None} if it is unknown.
    """
    program = _base_name(words[0])
    start = next((at for at, given in enumerate(named) if not given), len(named))
    extra = [word for word, given in zip(words, named, strict=True) if not given]
    if _is_runner(program, words, start):
        return RUNNER
    if _DELETERS.fullmatch(program) and any(map(_RECURSIVE.fullmatch, words)):
        return RECURSIVE
    paths = [path for word in words[1:] for path in _list_paths(word)]
    if any(map(_SECRETS.search, paths)):
        return SECRET
    if program not in _READERS and any(map(_GUARDED.search, paths)):
        return GUARDED
    checked = words[1:] if _WRITERS.fullmatch(program) else extra
    if any(leaves_folder(path, working_dir, cwd) for word in checked for path in _list_paths(word)):
        return OUTSIDE
    return _find_extra_limit(words, extra) or _find_added_risk(words, words[:start])


def _find_extra_limit(words: Sequence[str], extra: Sequence[str]) -> str | None:
    """Return why words that the rule does not name keep it from answering."""
    for word in extra:
        if word.startswith("-") and not is_inert_option(words, word):
            return OPTION
        if _base_name(words[0]) in _REACHERS and not word.startswith("-"):
            return HOST
        if _ASSIGNMENT.fullmatch(word) or word[:1] in ("@", "+"):
            return EXPANDED
    return None


def _find_added_risk(words: Sequence[str], named: Sequence[str]) -> str | None:
    risk = find_risk(_join(words))
    return None if risk in (None, find_risk(_join(named))) else RISKY


def _is_runner(program: str, words: Sequence[str], named: int) -> bool:
    """Return true if a command runs a program or a script that the rule does not name.

    @param named: number of words at the start that the rule names.
    """
    if _RUNNERS.fullmatch(program):
        return True
    # The first argument of an interpreter is the script, unless it is an option.
    if _INTERPRETERS.fullmatch(program):
        return named < 2 or (words[1].startswith("-") and (words[1] != "-m" or named < 3))
    action = words[1] if len(words) > 1 else ""
    if program not in _PARTED:
        return False
    if named < 2 or action.startswith("-") or action in _RUNS_PROGRAM.get(program, "").split():
        return True
    return named < 3 and action in _RUNS_SCRIPT.get(program, "").split()


def needs_exact_rule(words: Sequence[str]) -> bool:
    """Return true if only a rule with the complete command can allow what these words begin."""
    return not words or _is_runner(_base_name(words[0]), words, len(words))


def _base_name(program: str) -> str:
    return program.rpartition("/")[2]


def _join(words: Sequence[str]) -> str:
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def _list_paths(word: str) -> Iterator[str]:
    """Yield the texts within a word that may be paths, as in C{--file=/etc/x} or C{-f/etc/x}."""
    yield word
    yield from _SPLIT.split(word)
    if word.startswith("-"):
        start = re.search(r"[/.~]", word)
        if start is not None:
            yield word[start.start() :]


def leaves_folder(path: str, working_dir: str, cwd: str | None) -> bool:
    """Return true if a path may lead out of the session's folder."""
    if path.startswith("~"):
        return True
    if "/" not in path and ".." not in path:
        return False
    # A folder on the way may be a link, from which ".." leads elsewhere.
    if ".." in path.split("/"):
        return True
    return not is_inside(posixpath.join(cwd or working_dir, path), working_dir)


def is_inside(path: str, folder: str) -> bool:
    """Return true if an absolute path is the folder or inside it, as far as its text says."""
    if not path.startswith("/") or ".." in path.split("/"):
        return False
    inner, outer = posixpath.normpath(path), posixpath.normpath(folder)
    return outer != "/" and (inner == outer or inner.startswith(f"{outer}/"))


def find_path_limit(path: str, working_dir: str, *, reads: bool) -> str | None:
    """Return why a rule with a glob may not allow a tool to use a file; C{None} if it may.

    @param path: absolute path of the file.
    """
    within = posixpath.relpath(posixpath.normpath(path), posixpath.normpath(working_dir))
    if not is_inside(path, working_dir) or within == ".":
        return OUTSIDE
    if _SECRETS.search(path):
        return SECRET
    return None if reads or not _GUARDED.search(within) else GUARDED
