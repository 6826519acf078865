"""Check that agents start only in folders that a person trusts, or whose files run nothing
(protocol-trust).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial
from itertools import chain
from pathlib import Path

from attrs import frozen
from zope.interface import implementer

from tservice.agents.foldertrust.counted import FolderFinding, compute_digest
from tservice.agents.foldertrust.reading import examine_working_folder
from tservice.agents.foldertrust.store import TrustStore
from tservice.clis.interfaces import FolderSource, ICliRegistry
from tservice.core.locations.location import Location, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.locations.workspace_bounds import FolderLimit
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import FolderApprovalRequired, ILaunchPreparation, Session
from tservice.settings.interfaces import ISettings

ONCE = 1000
"""Maximum number of answers that are valid for one start only. Beyond it the oldest is dropped, and
the question is asked again.
"""


@frozen(kw_only=True)
class FolderQuestionCallbacks:
    """Callbacks that ask people about a folder.

    @ivar ask: asks about a session's folder; replaces an earlier question about different files.
    @ivar withdraw: removes the question about a session's folder.
    """

    ask: Callable[[Session, FolderFinding], None] = lambda session, found: None
    withdraw: Callable[[str], None] = lambda session_id: None


@frozen(kw_only=True)
class TrustDependencies:
    """Dependencies of L{FolderTrust}.

    @ivar files: thread pool that reads users' folders.
    @ivar inside: returns the folder that must contain an account's session folders in a location.
    @ivar own: returns the commands that the service itself writes into a folder, given a home
        folder and an environment.
    """

    settings: ISettings
    clis: ICliRegistry
    places: LocationRegistry
    files: IThreads
    inside: Callable[[str | None, LocationId], FolderLimit]
    store: TrustStore
    own: Callable[[Path, Mapping[str, str]], Set[str]]


@implementer(ILaunchPreparation)
class FolderTrust:
    """Check of a session's folder before every start.

    @ivar questions: callbacks that ask people.
    @ivar places: locations of the folders.
    """

    def __init__(self, deps: TrustDependencies, preparation: ILaunchPreparation) -> None:
        """@param preparation: writes the service's own files into the folder before the check."""
        self._deps = deps
        self._preparation = preparation
        self._once: dict[str, str] = {}
        self.questions = FolderQuestionCallbacks()
        self.places = deps.places
        self.forget_strangers = deps.store.delete_unknown_owners

    async def prepare_launch(self, session: Session, env: Mapping[str, str]) -> None:
        await self._preparation.prepare_launch(session, env)
        place = self.places.find_earlier_location(session.location_id)
        found = await self.examine_folder(
            session.mode, place, session.working_dir, session.owner, env
        )
        once = self._once.pop(session.id, None)
        if self.may_start(session.owner, found) or once == found.digest:
            self.questions.withdraw(session.id)
            return
        if not self._deps.settings.get().approvals_inbox_enabled:
            raise FolderApprovalRequired("switch on approvalsInboxEnabled to be asked about it")
        self.questions.ask(session, found)
        raise FolderApprovalRequired("answer the question in the inbox, then the session starts")

    def may_start(self, owner: str | None, found: FolderFinding) -> bool:
        """Return true if the owner's session may start without a question about its folder."""
        rule = self._deps.settings.get().trust_folders
        if rule == "always" or not found.digest or (rule == "own" and not found.needs_question):
            return True
        return found.lasting and self._deps.store.is_trusted(owner or "", found.digest)

    def record_trust(self, session: Session, digest: str, *, lasting: bool) -> None:
        """Record that a person trusts the folder. The next start checks it again.

        @param digest: digest of the finding that the person saw.
        @param lasting: see L{FolderFinding.lasting}; otherwise the answer is valid for one start.
        @raise DiskFull: the answer cannot be saved on disk.
        """
        if lasting:
            self._deps.store.save_trust(session.owner or "", digest, session.working_dir)
            return
        while len(self._once) >= ONCE:
            del self._once[next(iter(self._once))]
        self._once[session.id] = digest

    async def examine_folder(
        self, mode: str, place: Location, folder: str, owner: str | None, env: Mapping[str, str]
    ) -> FolderFinding:
        """Return the finding about a folder for a session of that mode; nothing is written.

        @param env: the environment of the session's pane.
        @raise ServiceError: 403, 422, 429: the folder cannot be examined.
        """
        sources, at = self._get_sources(mode), place.id
        if not sources or self._deps.settings.get().trust_folders == "always":
            return FolderFinding()
        where = compute_digest([at.kind, at.name, at.part, folder, mode])
        if not place.has_local_files:
            note = f"{folder} is on {place.title}, where the service cannot see what it brings."
            return FolderFinding(digest=where, note=note)
        inside = self._deps.inside(owner, at)

        def read_sources() -> FolderFinding:
            own = self._deps.own(place.home, env)
            return examine_working_folder(folder, sources, inside=inside, home=place.home, own=own)

        try:
            found = await self._deps.files.run(
                partial(place.run_file_work, read_sources), at=folder, owner=owner
            )
        except OSError as error:
            note = f"{folder} cannot be looked at: {error.strerror}. You are asked at every start."
            return FolderFinding(digest=where, note=note, lasting=False)
        return found if found.digest else FolderFinding(digest=where)

    def _get_sources(self, mode: str) -> tuple[FolderSource, ...]:
        """Return the files that configure a mode; those of all modes if the mode declares none."""
        entry = self._deps.clis.get_entry(mode)
        declared = None if entry is None else entry.capabilities.folder_config
        if declared is not None:
            return declared
        every = (each.capabilities.folder_config or () for each in self._deps.clis.list_entries())
        return tuple(chain.from_iterable(every))
