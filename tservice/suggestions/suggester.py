"""Makes suggestions: runs the session's agent CLI once and parses the output strictly
(protocol-suggestions).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.clis.interfaces import ICliRegistry, InstalledCli
from tservice.core.clock import get_unix_ms
from tservice.core.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.core.events import Event, EventHub, EventName
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.process.environment_handover import make_restoring_command, rename_variables
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import ISessions, Reauthorize, Session, accept_always
from tservice.settings.interfaces import ISettings
from tservice.suggestions.commands import COMMANDS, build_command
from tservice.suggestions.context import (
    SessionContext,
    build_suggestion_request,
    format_dialog,
    format_git_status,
)
from tservice.suggestions.intents import IntentService
from tservice.suggestions.interfaces import ConversationReader, GitStateReader, PendingItemFinder
from tservice.suggestions.model import Suggestion, UnusableSuggestions, parse_suggestions
from tservice.suggestions.oneshot_process import OneShotCommand, OneShotExit, OneShotProcess

AT_ONCE = 4
"""Maximum number of CLI processes that run at the same time."""
OF_ONE = 2
"""Maximum number of CLI processes of one account in multi-user mode."""


@frozen(kw_only=True)
class SuggestionSources:
    """Functions and services that supply the information for suggestions."""

    intents: IntentService
    conversation: ConversationReader
    git: GitStateReader
    pending: PendingItemFinder


class Suggester:
    """Service that makes suggestions. It never types anything into a session.

    Each session has at most one running CLI process for suggestions.

    @param folder: private folder for prompt files, created on first use.
    @param starting: returns the location in which a process of the session may be started. Raises
        L{ServiceError} if the session may not start a process now.
    @param random: returns the given number of random bytes.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        hub: EventHub,
        settings: ISettings,
        sessions: ISessions,
        clis: ICliRegistry,
        places: LocationRegistry,
        starting: Callable[[Session], Location],
        threads: IThreads,
        sources: SuggestionSources,
        folder: Path,
        random: Callable[[int], bytes],
        make: Callable[[IReactorTime], OneShotProcess] = OneShotProcess,
    ) -> None:
        self._clock, self._processes, self._hub = clock, processes, hub
        self._settings, self._sessions, self._clis = settings, sessions, clis
        self._places, self._starting, self._threads = places, starting, threads
        self._sources, self._folder, self._random = sources, folder, random
        self._make = make
        self._asking: dict[str, str | None] = {}
        self._children: dict[OneShotProcess, str] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Subscribe to session events, and delete prompt files that an earlier run of the service
        left.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> Deferred[list[OneShotExit]]:
        """Kill every running CLI process. The result fires once these processes have ended."""
        self._unsubscribe()
        children = tuple(self._children)
        ends = [_wait_for_exit(child) for child in children]
        for child in children:
            child.kill_process("the service stops")
        return gatherResults(ends)

    def require_enabled(self) -> None:
        """Check that the setting C{readMyMindEnabled} is on. Call this before any other check of a
        request.

        @raise ServiceError: 403 while the setting is off.
        """
        if not self._settings.get().read_my_mind_enabled:
            raise ServiceError(ErrorCode.FORBIDDEN, "the setting readMyMindEnabled is off")

    async def suggest_prompts(
        self,
        session_id: str,
        *,
        granted: bool,
        steer: str = "",
        rejected: Sequence[str] = (),
        reauthorize: Reauthorize = accept_always,
    ) -> dict[str, Any]:
        """Return suggestions for the next prompt of a session.

        The session's agent CLI is started once, so the rules for starting the session apply.

        @param granted: true if the caller may bypass permissions.
        @param steer: hint of the user about the suggestions wanted next.
        @param rejected: earlier suggestions that the user rejected.
        @param reauthorize: called just before the CLI is started, because the caller may have lost
            the permission since the request arrived.
        @return: C{suggestions}, and the times C{began} and C{ended} in Unix milliseconds.
        @raise ServiceError: 400: the session's mode makes no suggestions; 403: the CLI or a
            variable of the session needs the grant; 404: no such session; 409: a run for this
            session is in progress; 422: the location does not allow a start now, or the output was
            unusable; 429: too many runs.
        """
        session = self._sessions.get(session_id)
        self._check_session_suggestible(session)
        began = get_unix_ms(self._clock)
        self._asking[session_id] = session.owner
        try:
            text = await self._build_text(session, steer, rejected)
            place = await self._find_location(session)
            look = partial(
                self._clis.find_program, session.mode, session.env_overrides, place, granted=granted
            )
            program = await self._threads.run(look, at=str(place.home), owner=session.owner)
            found = await self._run_cli_with_prompt(session, place, program, text, reauthorize)
        finally:
            del self._asking[session_id]
        return {"suggestions": found, "began": began, "ended": get_unix_ms(self._clock)}

    # -- internals

    def _check_session_suggestible(self, session: Session) -> None:
        if session.mode not in self._settings.get().read_my_mind_modes:
            raise make_field_error("id", f"no suggestions for sessions of mode {session.mode}")
        if session.mode not in COMMANDS:
            raise make_field_error("id", f"the CLI of mode {session.mode} cannot make suggestions")
        if session.id in self._asking:
            raise make_conflict_error("suggestions for this session are being made already")
        if len(self._asking) >= AT_ONCE:
            raise ServiceError(
                ErrorCode.RATE_LIMITED, f"{AT_ONCE} suggestion requests are running already"
            )
        own = sum(owner == session.owner for owner in self._asking.values())
        if session.owner is not None and own >= OF_ONE:
            raise ServiceError(
                ErrorCode.RATE_LIMITED,
                f"{OF_ONE} suggestion requests of this account are running already",
            )

    async def _build_text(self, session: Session, steer: str, rejected: Sequence[str]) -> str:
        sources = self._sources
        item = sources.pending(session.id)
        observed = SessionContext(
            dialog="" if item is None else format_dialog(item),
            said=await self._read_last_answer(session.id),
            git=format_git_status(await sources.git(session.id)),
        )
        intent = await sources.intents.find_intent(session.id)
        mark = f"=== observed {self._random(12).hex()}"
        return build_suggestion_request(intent, observed, mark=mark, steer=steer, rejected=rejected)

    async def _read_last_answer(self, session_id: str) -> str:
        try:
            return str((await self._sources.conversation(session_id))["text"])
        except ServiceError as error:
            if error.code is ErrorCode.NOT_FOUND:
                raise
            self._log.debug("{id}: nothing said: {error}", id=session_id, error=error)
            return ""

    async def _find_location(self, session: Session) -> Location:
        """Return the location in which the session's CLI may be started now."""
        await self._places.refresh_location(session.location_id)
        if not self._places.find_earlier_location(session.location_id).has_local_files:
            raise make_failure_error("suggestions are for sessions that run on this machine itself")
        return self._starting(session)

    async def _run_cli_with_prompt(
        self,
        session: Session,
        place: Location,
        program: InstalledCli,
        text: str,
        reauthorize: Reauthorize,
    ) -> tuple[Suggestion, ...]:
        argv = build_command(program.path, session.mode, self._settings.get().read_my_mind_model)
        env = {**program.env, "NO_COLOR": "1", "TERM": "dumb"}
        asked = await self._prepare_user_run(session, place, OneShotCommand(argv=argv, env=env))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(dir=self._folder, prefix="ask-") as folder:
                prompt = Path(folder) / "prompt"
                prompt.touch(mode=0o600)
                prompt.write_text(text, "utf-8", errors="replace")
                self.require_enabled()
                reauthorize()
                ending = await self._run_process(session.id, asked, prompt)
        finally:
            if asked.own_group_folder is not None:
                work = partial(shutil.rmtree, asked.own_group_folder, ignore_errors=True)
                await self._run_with_location_rights(place, work, session.owner)
        return self._parse_output(session.id, ending)

    async def _prepare_user_run(
        self, session: Session, place: Location, asked: OneShotCommand
    ) -> OneShotCommand:
        """Prepare to run the command as another OS user, in a folder of that user.

        The environment is passed so that other users cannot read it.

        @raise ServiceError: 422: the service cannot start a process as that user.
        """
        if not place.is_isolated:
            return asked
        try:
            argv = tuple(place.build_command(make_restoring_command(asked.env, asked.argv)))
            work = partial(tempfile.mkdtemp, prefix="tservice-ask-")
            stands = await self._run_with_location_rights(place, work, session.owner)
        except OSError as error:
            raise make_failure_error(f"the CLI could not be started: {error.strerror}") from error
        return OneShotCommand(
            argv=argv, env=rename_variables(asked.env), own_group_folder=Path(stands)
        )

    def _run_with_location_rights(
        self, place: Location, work: Callable[[], Any], owner: str | None
    ) -> Deferred[Any]:
        return self._threads.run(
            partial(place.run_file_work, work), at=str(place.home), owner=owner
        )

    async def _run_process(
        self, session_id: str, asked: OneShotCommand, prompt: Path
    ) -> OneShotExit:
        child = self._make(self._clock)
        try:
            child.spawn_cli(self._processes, asked, prompt)
        except OSError as error:
            raise make_failure_error(f"the CLI could not be started: {error.strerror}") from error
        self._children[child] = session_id
        child.ended.addBoth(self._remove_child, child)
        ended = _wait_for_exit(child)
        try:
            return await ended
        except CancelledError:
            child.kill_process("the request was cancelled")
            raise

    def _remove_child(self, ending: OneShotExit, child: OneShotProcess) -> OneShotExit:
        del self._children[child]
        return ending

    def _parse_output(self, session_id: str, ending: OneShotExit) -> tuple[Suggestion, ...]:
        # If the session was deleted in the meantime, this raises the matching 404.
        self._sessions.get(session_id)
        if ending.reason:
            raise make_failure_error(f"no suggestions: {ending.reason}")
        if ending.status != 0:
            self._log.info(
                "{id}: {errors}", id=session_id, errors=ending.complained.decode("utf-8", "replace")
            )
            how = "a signal" if ending.status is None else f"status {ending.status}"
            raise make_failure_error(f"no suggestions: the CLI ended with {how}")
        try:
            return parse_suggestions(ending.printed.decode("utf-8", "replace"))
        except UnusableSuggestions as error:
            raise make_failure_error(f"no suggestions: {error}") from None

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED:
            for child, session_id in tuple(self._children.items()):
                if session_id == event.session_id:
                    child.kill_process("the session was deleted")


def _wait_for_exit(child: OneShotProcess) -> Deferred[OneShotExit]:
    """Return a Deferred that fires when the process ends. Cancelling it does not affect the
    process.
    """
    waiter: Deferred[OneShotExit] = Deferred()

    def fire_waiter(ending: OneShotExit) -> OneShotExit:
        if not waiter.called:
            waiter.callback(ending)
        return ending

    child.ended.addCallback(fire_waiter)
    return waiter
