"""Comparisons of which at least one side is no commit, or none is the working tree
(protocol-changes).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import make_field_error
from tservice.git.interfaces import IWorkingCopies, WorkingCopy
from tservice.review.comparison.bases import BaseWish, find_base, read_head
from tservice.review.comparison.changes import DiffOptions, FileDiff
from tservice.review.comparison.trees import (
    CommitTree,
    ComparedTree,
    TreeComparison,
    compare_trees,
    read_tree_diff,
)
from tservice.review.model import RepositoryChanges

RECENT_SECONDS = 5.0
"""Seconds for which a comparison is reused to find one of its files."""
MAX_RECENT = 10
"""Maximum number of comparisons that are kept for that."""


@frozen(kw_only=True)
class Sides:
    """Names of what is compared, as requests have them.

    @ivar base: C{None} for the base that is chosen without a name.
    @ivar target: C{None} for the working tree.
    """

    base: str | None = None
    target: str | None = None


@frozen(kw_only=True)
class SideName:
    """Name of one side.

    @ivar field: C{base} or C{target}, for error texts.
    """

    field: str
    name: str


class TreeSource(Protocol):
    """Trees that names with a prefix mean.

    @cvar prefix: beginning of such a name; no reference of git can have it.
    """

    prefix: str

    def check_access(self, session_id: str, side: SideName, caller: Caller) -> None:
        """Check that a caller may read these trees.

        @raise ServiceError: 400: the name means nothing, or nothing that the caller may read.
        """

    async def open_trees(
        self, session_id: str, side: SideName, copies: Sequence[WorkingCopy]
    ) -> Mapping[str, ComparedTree]:
        """Return the trees by the path of the session's repository that they belong to.

        @param copies: the session's repositories.
        @raise ServiceError: there are none.
        """


@frozen(kw_only=True)
class _ComparisonKey:
    session_id: str
    sides: Sides


class TreeComparer:
    """Compares the trees of sessions.

    Every error is a C{ServiceError}.
    """

    def __init__(
        self,
        clock: IReactorTime,
        copies: IWorkingCopies,
        sources: Sequence[TreeSource],
        make_wish: Callable[[str, str, str | None], BaseWish],
    ) -> None:
        """@param make_wish: returns the wanted base.  It gets the id of a session, the path of one
        of its repositories, and the base that a caller named.
        """
        self._clock, self._copies = clock, copies
        self._sources, self._make_wish = sources, make_wish
        self._recent: OrderedDict[_ComparisonKey, tuple[float, Sequence[TreeComparison]]] = (
            OrderedDict()
        )

    def is_needed(self, sides: Sides) -> bool:
        """Return true unless the working tree is compared with a commit."""
        return sides.target is not None or self._find_source(sides.base) is not None

    async def read_changes(
        self, session_id: str, sides: Sides, caller: Caller
    ) -> Sequence[RepositoryChanges]:
        """Return the differences in a session's repositories.

        @raise ServiceError: 400: a side is unknown; 409: the files at the end of a turn are no
            longer kept; 422: too many files differ.
        """
        self._check_access(session_id, sides, caller)
        return [each.changes for each in await self._compare(session_id, sides)]

    async def read_file_diff(
        self,
        session_id: str,
        sides: Sides,
        repo: str | None,
        path: str,
        options: DiffOptions,
        caller: Caller,
    ) -> FileDiff:  # fmt: skip
        """Return one page of the difference of a file in the list of changes.

        @raise ServiceError: 404 if it is not in the list; and see L{read_changes}.
        """
        self._check_access(session_id, sides, caller)
        at, found = self._recent.get(
            _ComparisonKey(session_id=session_id, sides=sides), (0.0, None)
        )
        if found is None or self._clock.seconds() - at >= RECENT_SECONDS:
            found = await self._compare(session_id, sides)
        return await read_tree_diff(found, repo, path, options)

    def _find_source(self, name: str | None) -> TreeSource | None:
        """Return the source of a side; C{None} for a commit or the working tree."""
        if name is None:
            return None
        return next((each for each in self._sources if name.startswith(each.prefix)), None)

    def _check_access(self, session_id: str, sides: Sides, caller: Caller) -> None:
        for field, name in (("base", sides.base), ("target", sides.target)):
            source = self._find_source(name)
            if source is not None and name is not None:
                source.check_access(session_id, SideName(field=field, name=name), caller)

    async def _compare(self, session_id: str, sides: Sides) -> Sequence[TreeComparison]:
        copies = await self._copies.open_working_copies(session_id)
        olds = await self._open_side(session_id, "base", sides.base, copies)
        news: Mapping[str, ComparedTree | None] = {copy.path: None for copy in copies}
        if sides.target is not None:
            news = await self._open_side(session_id, "target", sides.target, copies)
        found = [
            await compare_trees(copy, olds[copy.path], news[copy.path])
            for copy in copies
            if copy.path in olds and copy.path in news
        ]
        if not found and copies:
            raise make_field_error("target", "must be of the same repository as the base")
        key = _ComparisonKey(session_id=session_id, sides=sides)
        self._recent.pop(key, None)
        self._recent[key] = (self._clock.seconds(), found)
        while len(self._recent) > MAX_RECENT:
            self._recent.popitem(last=False)
        return found

    async def _open_side(
        self, session_id: str, field: str, name: str | None, copies: Sequence[WorkingCopy]
    ) -> Mapping[str, ComparedTree]:
        source = self._find_source(name)
        if source is not None and name is not None:
            return await source.open_trees(session_id, SideName(field=field, name=name), copies)
        found: dict[str, ComparedTree] = {}
        for copy in copies:
            wish = evolve(self._make_wish(session_id, copy.path, name), field=field)
            described = await find_base(copy, await read_head(copy), wish)
            found[copy.path] = CommitTree(copy=copy, described=described)
        return found
