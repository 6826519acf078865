"""Records and bounds of reviews."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase

from attrs import field, frozen

from tservice.core.kernel.errors import ServiceError, make_field_error

MAX_FILES = 1000
"""Maximum number of changed files listed for one repository.  The totals count all of them."""
DIFF_BYTES = 16 * 1024 * 1024
"""Maximum bytes of one file's diff that git prints."""
PAGE_ROWS = 3000
"""Maximum number of rows in one answer with hunks."""
PAGE_BYTES = 400 * 1024
"""Maximum bytes of text in one answer with hunks."""
IMAGE_BYTES = 2 * 1024 * 1024
"""Maximum bytes of each image in an answer."""
CONTEXT_DEFAULT = 3
WHOLE_CONTEXT = 1_000_000
"""Number of context lines that stands for the whole file."""

SUBMODULE_MODE = "160000"

_GENERATED_NAMES = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "bun.lockb", "cargo.lock", "poetry.lock", "uv.lock", "pipfile.lock", "pdm.lock",
    "composer.lock", "gemfile.lock", "go.sum", "flake.lock", "mix.lock", "pubspec.lock",
    "packages.lock.json", "gradle.lockfile",
    "*.min.js", "*.min.css", "*.map", "*.pb.go", "*_pb2.py", "*.snap",
)  # fmt: skip
"""Names of generated files, in lower case: lock files, minified files and what compilers write."""


class FileStatus(StrEnum):
    """Difference of a file from the base."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    TYPE_CHANGED = "type-changed"
    CONFLICTED = "conflicted"


class BaseSource(StrEnum):
    """Reason why a commit is the base of a session's changes."""

    NAMED = "named"
    """The caller named it."""
    CHOSEN = "chosen"
    """A person chose it for the workspace."""
    BRANCH_POINT = "branch-point"
    """The branch left the default branch there."""
    SESSION_START = "session-start"
    SESSION = "session"
    """The working tree of another session, which the caller named."""
    TURN = "turn"
    """The end of a turn, which the caller named."""
    HEAD = "head"
    """There is nothing else to compare with."""
    EMPTY = "empty"
    """There is no commit yet."""


@frozen(kw_only=True)
class ComparisonBase:
    """Commit that is one side of a comparison, or stands for the files that are.

    @ivar ref: name that a person knows, such as a branch.  C{None} if there is none.
    @ivar commit: the commit; C{None} before the first commit.
    @ivar tree: name that git resolves to the tree.
    """

    ref: str | None
    commit: str | None
    source: BaseSource
    tree: str


@frozen(kw_only=True)
class ChangedFile:
    """File that differs from the base.

    @ivar original: the path in the base, if the file was renamed.
    @ivar old_mode: file mode in the base; empty if the file was not there.
    @ivar new_mode: file mode in the working tree; empty if the file is not there.
    @ivar old_blob: the blob in the base; C{None} if the file was not there.
    @ivar similarity: similarity of a renamed file in percent.
    @ivar added: number of added lines; 0 for a binary file.
    @ivar is_generated: true for lock files, minified files and those that the repository declares
        generated.
    @ivar kinds: C{committed}, C{staged}, C{unstaged}, C{untracked}, C{conflicted}, C{submodule},
        C{repository}.
    @ivar hash: hash of the file now (L{tservice.git.interfaces.WorkingFile}), or in the target.
    """

    path: bytes
    status: FileStatus
    original: bytes | None = None
    old_mode: str = ""
    new_mode: str = ""
    old_blob: str | None = None
    similarity: int | None = None
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    is_generated: bool = False
    kinds: Sequence[str] = ()
    hash: str = ""

    @property
    def display_path(self) -> str:
        r"""The path as clients see it: bytes that are not UTF-8 become C{\xNN}."""
        return self.path.decode("utf-8", "backslashreplace")

    @property
    def base_path(self) -> bytes:
        """Path of the file in the base."""
        return self.path if self.original is None else self.original

    @property
    def is_submodule(self) -> bool:
        """True if either side is a submodule."""
        return SUBMODULE_MODE in (self.old_mode, self.new_mode)


@frozen(kw_only=True)
class ChangeTotals:
    """Numbers of changed files and lines."""

    files: int = 0
    added: int = 0
    removed: int = 0

    def __add__(self, other: ChangeTotals) -> ChangeTotals:
        return ChangeTotals(
            files=self.files + other.files,
            added=self.added + other.added,
            removed=self.removed + other.removed,
        )


@frozen(kw_only=True)
class RepositoryChanges:
    """Changes in one repository.

    @ivar branch: the branch that is checked out; C{None} if HEAD is detached.
    @ivar commit: the commit of HEAD; C{None} before the first commit.
    @ivar is_truncated: true if not all files are listed.
    @ivar target: what was compared with the base; C{None} for the working tree.
    """

    path: str
    name: str
    base: ComparisonBase
    branch: str | None
    commit: str | None
    is_detached: bool
    files: Sequence[ChangedFile] = ()
    totals: ChangeTotals = field(factory=ChangeTotals)
    is_truncated: bool = False
    target: ComparisonBase | None = None


def is_generated_name(path: str) -> bool:
    """Return true if the name of a file says that a program writes it."""
    name = path.rpartition("/")[2].lower()
    return any(fnmatchcase(name, pattern) for pattern in _GENERATED_NAMES)


def check_ref_name(ref: str, named: str) -> str:
    """Return C{ref} if it can name a commit and nothing else to git.

    @param named: the name of the request's field, for the error text.
    @raise ServiceError: 400.
    """
    odd = any(character <= " " or character in "\x7f~^:?*[\\" for character in ref)
    if not ref or len(ref) > 250 or ref.startswith("-") or ".." in ref or "@{" in ref or odd:
        raise _make_ref_error(named)
    return ref


def _make_ref_error(named: str) -> ServiceError:
    return make_field_error(named, "must be a branch, a tag or a commit")
