"""Choice of the base by a person, remembered for the workspace (protocol-changes)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import make_field_error
from tservice.git.interfaces import WorkingCopy
from tservice.review.comparison.bases import START, resolve_commit
from tservice.review.model import check_ref_name
from tservice.review.store import BaseKey, ReviewStore
from tservice.sessions.interfaces import ISessions

MAX_BRANCHES = 200
"""Maximum number of branches that are offered, latest first."""
_LIMIT = 256 * 1024


@frozen(kw_only=True)
class BaseChoice:
    """Bases among which a person can choose.

    @ivar chosen: the remembered one; C{None} if the service chooses.
    @ivar branches: names of branches, latest first.
    @ivar has_start: true if the commit at the session's start is known.
    """

    chosen: str | None
    branches: Sequence[str]
    has_start: bool


class BaseChooser:
    """Remembers the bases that people choose.  Every error is a C{ServiceError}."""

    def __init__(self, clock: IReactorTime, sessions: ISessions, store: ReviewStore) -> None:
        self._clock, self._sessions, self._store = clock, sessions, store

    def find_chosen(self, session_id: str, repo: str) -> str | None:
        """Return the base that was chosen for a repository; C{None} if none was.

        @param repo: path of the repository relative to the workspace.
        """
        return self._store.find_base(self._make_key(session_id, repo))

    async def list_choices(self, session_id: str, copy: WorkingCopy) -> BaseChoice:
        """Return the bases that can be chosen for a repository."""
        words = (
            "for-each-ref", "--format=%(refname:lstrip=2)", "--sort=-committerdate",
            f"--count={MAX_BRANCHES}", "refs/heads", "refs/remotes",
        )  # fmt: skip
        output, _ = await copy.run_git(words, _LIMIT)
        return BaseChoice(
            chosen=self.find_chosen(session_id, copy.path),
            branches=output.decode("utf-8", "replace").splitlines(),
            has_start=self._store.find_start(session_id, copy.path) is not None,
        )

    async def choose(
        self, session_id: str, copy: WorkingCopy, base: str | None, caller: Caller
    ) -> None:
        """Remember a base for the sessions in a workspace; C{None} lets the service choose.

        @param base: a branch, a tag, a commit, or C{start} for each session's start.
        @raise ServiceError: 400: it is unknown.
        """
        if base not in (None, START):
            name = check_ref_name(base, "base") if base is not None else ""
            if await resolve_commit(copy, name) is None:
                raise make_field_error("base", "there is no such commit")
        caller.reauthorize()
        key = self._make_key(session_id, copy.path)
        self._store.save_base(key, base, get_unix_ms(self._clock))

    def _make_key(self, session_id: str, repo: str) -> BaseKey:
        session = self._sessions.get(session_id)
        place = session.location_id
        return BaseKey(
            owner=session.owner or "",
            place=f"{place.kind.value} {place.name} {place.part}",
            folder=session.working_dir,
            repo=repo,
        )
