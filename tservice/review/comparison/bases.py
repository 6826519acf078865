"""Choice of the commit that a session's changes are compared with."""

from __future__ import annotations

from attrs import frozen

from tservice.core.kernel.errors import ServiceError, make_field_error
from tservice.git.interfaces import GitHead, WorkingCopy
from tservice.review.model import BaseSource, ComparisonBase, check_ref_name

_SMALL = 64 * 1024
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_DEFAULTS = (
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
"""References that may be the default branch, in this order."""


START = "start"
"""Name of the commit at the session's start."""


@frozen(kw_only=True)
class BaseWish:
    """Description of the wanted base.

    @ivar named: the base that the caller named: a branch, a tag, a commit, or L{START}.
    @ivar chosen: the base that a person chose for the workspace.
    @ivar start_commit: the commit at the session's start, if it is known.
    @ivar field: name of the request's field that names it, for the error text.
    """

    named: str | None = None
    chosen: str | None = None
    start_commit: str | None = None
    field: str = "base"


async def find_base(copy: WorkingCopy, head: GitHead, wish: BaseWish) -> ComparisonBase:
    """Return the base of the changes.

    The first that is known is used: the named base, the chosen one, the point where the branch left
    the default branch, the commit at the session's start, HEAD.

    On the default branch itself there is no such point, unless a remote has the branch too.

    @raise ServiceError: 400 naming the field: it is unknown.
    """
    if head.commit is None:
        tree = await _find_empty_tree(copy)
        return ComparisonBase(ref=None, commit=None, source=BaseSource.EMPTY, tree=tree)
    start = await resolve_commit(copy, wish.start_commit) if wish.start_commit else None
    if wish.named == START and start is not None:
        return _make_base(None, start, BaseSource.SESSION_START)
    if wish.named is not None:
        found = await resolve_commit(copy, check_ref_name(wish.named, wish.field))
        if found is None:
            raise make_field_error(wish.field, "there is no such commit")
        return _make_base(wish.named, found, BaseSource.NAMED)
    if wish.chosen == START and start is not None:
        return _make_base(None, start, BaseSource.SESSION_START)
    chosen = await _find_chosen_base(copy, wish.chosen)
    if chosen is not None:
        return chosen
    point = await _find_branch_point(copy, head)
    if point is not None:
        return point
    if start is not None:
        return _make_base(None, start, BaseSource.SESSION_START)
    return _make_base("HEAD", head.commit, BaseSource.HEAD)


async def read_head(copy: WorkingCopy) -> GitHead:
    """Return the branch and commit that are checked out."""
    commit = await read_head_commit(copy)
    try:
        output, _ = await copy.run_git(("symbolic-ref", "--quiet", "--short", "HEAD"), _SMALL)
    except ServiceError:
        return GitHead(detached=True, commit=commit)
    branch = output.decode("utf-8", "replace").strip()
    return GitHead(branch=branch, commit=commit, unborn=commit is None)


async def read_head_commit(copy: WorkingCopy) -> str | None:
    """Return the commit of HEAD; C{None} before the first commit."""
    return await resolve_commit(copy, "HEAD")


def _make_base(ref: str | None, commit: str, source: BaseSource) -> ComparisonBase:
    return ComparisonBase(ref=ref, commit=commit, source=source, tree=commit)


async def resolve_commit(copy: WorkingCopy, name: str) -> str | None:
    """Return the commit that C{name} means; C{None} if there is none."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    try:
        output, _ = await copy.run_git(words, _SMALL)
    except ServiceError:
        return None
    return output.decode("ascii", "replace").strip() or None


async def _find_chosen_base(copy: WorkingCopy, chosen: str | None) -> ComparisonBase | None:
    """Return the commit at which the branch left the chosen one; C{None} if that is gone."""
    if chosen is None or chosen == START:
        return None
    commit = await resolve_commit(copy, chosen)
    if commit is None:
        return None
    point = await _find_merge_base(copy, commit)
    return _make_base(chosen, point or commit, BaseSource.CHOSEN)


async def _find_merge_base(copy: WorkingCopy, other: str) -> str | None:
    """Return the last common commit of HEAD and C{other}; C{None} if there is none."""
    try:
        output, _ = await copy.run_git(("merge-base", other, "HEAD"), _SMALL)
    except ServiceError:
        return None
    return output.decode("ascii", "replace").strip() or None


async def _find_branch_point(copy: WorkingCopy, head: GitHead) -> ComparisonBase | None:
    form = "--format=%(refname)%00%(symref)"
    output, _ = await copy.run_git(("for-each-ref", form, *_DEFAULTS), _SMALL)
    lines = [line.split("\0") for line in output.decode("utf-8", "replace").splitlines()]
    known = {name: target or name for name, target in lines}
    default = next((known[name] for name in _DEFAULTS if name in known), None)
    if default is None or default == f"refs/heads/{head.branch}":
        return None
    commit = await _find_merge_base(copy, default)
    ref = default.removeprefix("refs/remotes/").removeprefix("refs/heads/")
    return _make_base(ref, commit, BaseSource.BRANCH_POINT) if commit else None


async def _find_empty_tree(copy: WorkingCopy) -> str:
    try:
        output, _ = await copy.run_git(("rev-parse", "--show-object-format"), _SMALL)
    except ServiceError:
        return _EMPTY_TREES["sha1"]  # git before 2.25
    return _EMPTY_TREES.get(output.decode().strip(), _EMPTY_TREES["sha1"])
