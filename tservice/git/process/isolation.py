"""Environment in which reading a repository cannot run other programs or open connections.

The environment is built from scratch, without the configuration of the machine or the user.
Settings of the repository that could run a program are overridden by name.  The names come from
git, not from our own parser, so that included files cannot hide any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from tservice.git.model import GitRepository

OVERRIDES_LIMIT = 2000
"""Maximum number of overrides for one repository.

A repository that needs more is not read.
"""

_FIXED = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "false",
    "core.quotePath": "false",
    "credential.helper": "",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "status.aheadBehind": "true",
    "diff.submodule": "short",
    "diff.ignoreSubmodules": "dirty",
    # Refresh the index in memory only.
    "diff.autoRefreshIndex": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "false",
}
_FILTER = {"clean": "", "smudge": "", "process": "", "required": "false"}
"""Settings that disable a filter.

Git ignores an empty command if the filter is not required.
"""

STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--show-stash",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
)
"""Arguments of git status (protocol-git-status).

Changes in submodules are ignored, because examining a submodule would run git inside it.
"""

DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--no-relative",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
)
CONFIG_NAMES = ("config", "--list", "--includes", "--name-only", "-z")


class TooManyOverridesError(Exception):
    """The repository needs more overrides than L{OVERRIDES_LIMIT}."""


@frozen(kw_only=True)
class RepositoryConfigKeys:
    """Keys that a repository sets, as C{section.subsection.key}.

    Section and key are in lower case.
    """

    names: frozenset[str]

    @property
    def has_remote(self) -> bool:
        """True if the repository has a remote that C{git remote} would list."""
        return any(_find_subsection(name, "remote") is not None for name in self.names)

    def find_subsections(self, section: str) -> set[str]:
        """Return the subsections of all keys in C{section}."""
        found = (_find_subsection(name, section) for name in self.names)
        return {middle for middle in found if middle is not None}

    def make_overrides(self) -> dict[str, str]:
        """Return keys and values that override dangerous settings of the repository.

        @raise TooManyOverridesError: there are more than L{OVERRIDES_LIMIT}.
        """
        found = dict(_FIXED)
        for name in self.names:
            driver = _find_subsection(name, "filter")
            if driver is not None:
                found |= {f"filter.{driver}.{key}": value for key, value in _FILTER.items()}
            remote = _find_subsection(name, "remote")
            if remote is not None:
                found[f"remote.{remote}.promisor"] = "false"
            if len(found) > OVERRIDES_LIMIT:
                raise TooManyOverridesError
        return found


def parse_config_keys(output: bytes) -> RepositoryConfigKeys:
    """Parse the output of git for the arguments L{CONFIG_NAMES}."""
    names = output.decode("utf-8", "surrogateescape").split("\0")
    return RepositoryConfigKeys(names=frozenset(name for name in names if name))


def _find_subsection(name: str, section: str) -> str | None:
    """Return the subsection C{b.c} of a key C{section.b.c.key}.

    C{None} means that the key is in another section, or has no subsection.
    """
    first, _, rest = name.partition(".")
    middle, dot, _ = rest.rpartition(".")
    return middle if first == section and dot else None


def make_environment(path: str, overrides: Mapping[str, str]) -> dict[bytes, bytes]:
    """Return the complete environment of a git process.

    @param path: value of C{PATH}, with absolute folders only.
    @param overrides: configuration that takes precedence over every file.
    """
    fixed = {
        "PATH": path,
        "LC_ALL": "C",
        # Hides the user's configuration from every git: GIT_CONFIG_GLOBAL came with 2.32.
        "HOME": "/dev/null",
        "XDG_CONFIG_HOME": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_COUNT": str(len(overrides)),
    }
    for number, (key, value) in enumerate(sorted(overrides.items())):
        fixed[f"GIT_CONFIG_KEY_{number}"] = key
        fixed[f"GIT_CONFIG_VALUE_{number}"] = value
    return {key.encode(): value.encode("utf-8", "surrogateescape") for key, value in fixed.items()}


def make_arguments(repository: GitRepository, words: Iterable[str | bytes]) -> list[bytes]:
    """Return the complete arguments of git for the command C{words} in C{repository}.

    These arguments specify both the control folder and the working tree.  Git then ignores the
    repository's C{core.worktree}, and does not search in parent folders.
    """
    return [
        b"--no-optional-locks",
        b"--no-pager",
        # Git changes to the folder itself: starting a process in another folder requires a
        # fork, which is several times slower than a spawn in a large service.
        b"-C",
        repository.root,
        b"--git-dir=" + repository.control,
        b"--work-tree=" + repository.root,
        *(word.encode() if isinstance(word, str) else word for word in words),
    ]


def remove_relative_folders(path: str) -> str:
    """Return the value of C{PATH} without relative folders, which would be searched in the
    repository.
    """
    return ":".join(folder for folder in path.split(":") if folder.startswith("/"))
