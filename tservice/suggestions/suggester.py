"""Makes suggestions: runs the session's agent CLI once and parses the output strictly
(protocol-suggestions).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.clis.interfaces import ONE_SHOT_COMMANDS, ICliRegistry, InstalledCli
from tservice.core.callers.caller import Caller
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
)
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.location import Location
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.process.child import ChildCommand, ChildProcess, ChildResult, ChildRunner
from tservice.core.workers.worker_pool import IThreads
from tservice.sessions.interfaces import ISessions, Session
from tservice.settings.interfaces import ISettings
from tservice.suggestions.context import (
    SessionContext,
    build_suggestion_request,
    format_dialog,
    format_git_status,
)
from tservice.suggestions.intents import IntentService
from tservice.suggestions.interfaces import ConversationReader, GitStateReader, PendingItemFinder
from tservice.suggestions.model import Suggestion, UnusableSuggestions, parse_suggestions
from tservice.suggestions.oneshot_command import describe_failure, make_oneshot_command

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
        children: ChildRunner,
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
    ) -> None:
        self._clock, self._children, self._hub = clock, children, hub
        self._settings, self._sessions, self._clis = settings, sessions, clis
        self._places, self._starting, self._threads = places, starting, threads
        self._sources, self._folder, self._random = sources, folder, random
        self._asking: dict[str, str | None] = {}
        self._running: dict[ChildProcess, str] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Subscribe to session events, and delete prompt files that an earlier run of the service
        left.
        """
        shutil.rmtree(self._folder, ignore_errors=True)
        self._unsubscribe = self._hub.subscribe(self._handle_event)

    def stop(self) -> Deferred[None]:
        """Kill every running CLI process. The result fires once these processes have ended."""
        self._unsubscribe()
        return self._children.stop()

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
        caller: Caller,
    ) -> dict[str, Any]:
        """Return suggestions for the next prompt of a session.

        The session's agent CLI is started once, so the rules for starting the session apply.

        @param granted: true if the caller may bypass permissions.
        @param steer: hint of the user about the suggestions wanted next.
        @param rejected: earlier suggestions that the user rejected.
        @param caller: authorized again just before the CLI is started.
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
            found = await self._run_cli_with_prompt(session, place, program, text, caller)
        finally:
            del self._asking[session_id]
        return {"suggestions": found, "began": began, "ended": get_unix_ms(self._clock)}

    # -- internals

    def _check_session_suggestible(self, session: Session) -> None:
        if session.mode not in self._settings.get().read_my_mind_modes:
            raise make_field_error("id", f"no suggestions for sessions of mode {session.mode}")
        if session.mode not in ONE_SHOT_COMMANDS:
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
        caller: Caller,
    ) -> tuple[Suggestion, ...]:
        model = self._settings.get().read_my_mind_model
        argv = ONE_SHOT_COMMANDS[session.mode].build_argv(program.path, model)
        env = {**program.env, "NO_COLOR": "1", "TERM": "dumb"}
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        stands = await self._make_user_folder(session, place)
        try:
            with tempfile.TemporaryDirectory(dir=self._folder, prefix="ask-") as folder:
                prompt = Path(folder) / "prompt"
                prompt.touch(mode=0o600)
                prompt.write_text(text, "utf-8", errors="replace")
                self.require_enabled()
                caller.reauthorize()
                user = place.user if place.is_isolated else None
                command = make_oneshot_command(argv, env, stands or folder, user)
                child = self._start_child(session.id, command, prompt)
                ending = await self._wait_ended(child)
        finally:
            if stands is not None:
                work = partial(shutil.rmtree, stands, ignore_errors=True)
                await self._run_with_location_rights(place, work, session.owner)
        return self._parse_output(session.id, ending)

    async def _make_user_folder(self, session: Session, place: Location) -> str | None:
        """Return a new folder of the OS user that runs the CLI; C{None} for the service's user.

        @raise ServiceError: 422: the folder cannot be created.
        """
        if not place.is_isolated:
            return None
        work = partial(tempfile.mkdtemp, prefix="tservice-ask-")
        try:
            made: str = await self._run_with_location_rights(place, work, session.owner)
        except OSError as error:
            raise make_failure_error(f"the CLI could not be started: {error.strerror}") from error
        return made

    def _run_with_location_rights(
        self, place: Location, work: Callable[[], Any], owner: str | None
    ) -> Deferred[Any]:
        return self._threads.run(
            partial(place.run_file_work, work), at=str(place.home), owner=owner
        )

    def _start_child(self, session_id: str, command: ChildCommand, prompt: Path) -> ChildProcess:
        try:
            with open(prompt, "rb", opener=_open_without_links) as given:
                child = self._children.start(evolve(command, stdin=given.fileno()))
        except OSError as error:
            raise make_failure_error(f"the CLI could not be started: {error.strerror}") from error
        self._running[child] = session_id
        child.wait_ended().addCallback(lambda ending: self._running.pop(child))
        return child

    async def _wait_ended(self, child: ChildProcess) -> ChildResult:
        try:
            return await child.wait_ended()
        except CancelledError:
            child.stop()
            raise

    def _parse_output(self, session_id: str, ending: ChildResult) -> tuple[Suggestion, ...]:
        # If the session was deleted in the meantime, this raises the matching 404.
        self._sessions.get(session_id)
        reason = describe_failure(ending)
        if reason is not None:
            self._log.info("{id}: {errors}", id=session_id, errors=ending.error_text)
            raise make_failure_error(f"no suggestions: {reason}")
        try:
            return parse_suggestions(ending.output.decode("utf-8", "replace"))
        except UnusableSuggestions as error:
            raise make_failure_error(f"no suggestions: {error}") from None

    def _handle_event(self, event: Event) -> None:
        if event.name is EventName.SESSION_DELETED:
            for child, session_id in tuple(self._running.items()):
                if session_id == event.session_id:
                    child.stop()


def _open_without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)
