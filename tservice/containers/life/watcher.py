"""Observer that reports ends and pauses of containers to the sessions inside (protocol-containers).

When a session ends, its terminal reports this, and this module finds the reason.  In a paused
container no process ends or responds, so only the engine can report the pause.  If an engine is
unavailable, for example during a restart, missed events are determined when it is available again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.containers import procfs
from tservice.containers.engine_output import (
    TERMINATED,
    ContainerEvent,
    ContainerSnapshot,
    ContainerState,
)
from tservice.containers.host_registry import ContainerHostRegistry
from tservice.containers.life.events import AGAIN_SECONDS, EngineEventStream
from tservice.containers.life.pauses import PauseReporter
from tservice.containers.location import get_case_location
from tservice.containers.model import ContainerCase, EngineKind
from tservice.containers.registry import ContainerRegistry
from tservice.containers.store import ContainerStore
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.core.locations.location import LocationKind
from tservice.core.process.child import ChildRunner
from tservice.sessions.interfaces import ISessions, ProcessExit, Session, SessionStatus

SETTLED_SECONDS = 1.0
"""Seconds to wait before the event of a container is handled.

Its processes have ended by then.
"""
DEATH_SECONDS = 10
"""Maximum seconds between the end of a process in a container and the engine's report that the
container ended.
"""
REMOVAL_SECONDS = 60
"""Maximum seconds between the end and the removal of a container that is removed by force."""

OOM, STOPPED, KILLED, REMOVED = (
    "oom-killed",
    "container-stopped",
    "container-killed",
    "container-removed",
)
REASON_TEXTS = {
    OOM: "the memory limit of its container ended it",
    STOPPED: "its container was stopped",
    KILLED: "its container was killed",
    REMOVED: "its container was removed",
}

_Engine = tuple[str, EngineKind, str | None]
"""Key of an engine: host id, kind of engine, and context."""

_SIGKILL = 137


def find_exit_reason(seen: ContainerSnapshot | None, oom: bool | None) -> str | None:
    """Return the reason why a process in a container ended; C{None} if the container is not the
    reason.

    @param oom: true if the memory limit killed a process since the last check; C{None} if only the
        engine knows this.
    """
    if seen is None or seen.state is ContainerState.MISSING:
        return REMOVED
    runs = seen.state in (ContainerState.RUNNING, ContainerState.PAUSED)
    # A stop request sends a signal first, so the first process exits normally.
    if not runs and seen.exit_code in TERMINATED:
        return STOPPED
    if oom or (oom is None and seen.oom):
        return OOM
    return None if runs else KILLED


@frozen(kw_only=True)
class EndedSession:
    """Session that ended and whose reason was not reported yet.

    @ivar at: time of the end, Unix milliseconds.
    @ivar oom: true if the memory limit killed a process in the container just before; C{None} if
        only the engine knows this.
    @ivar answered: true if the engine was asked and reported no reason.
    """

    at: int
    oom: bool | None
    answered: bool = False


class ContainerWatcher:
    """Observer of ends and pauses of containers.

    @param environ: environment of the engine commands.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        children: ChildRunner,
        environ: dict[str, str],
        hub: EventHub,
        store: ContainerStore,
        hosts: ContainerHostRegistry,
        boxes: ContainerRegistry,
        sessions: Callable[[], ISessions],
    ) -> None:
        self._clock, self._children = clock, children
        self._environ = environ
        self._hub, self._store, self._hosts, self._boxes = hub, store, hosts, boxes
        self._sessions = sessions
        self._timers = NamedTimers(clock)
        self._events: dict[_Engine, EngineEventStream] = {}
        self._ooms: dict[str, int] = {}
        self._ends: dict[str, EndedSession] = {}
        self._pauses = PauseReporter(clock, sessions=sessions, get=self._find_session)
        # One set for each running inspection of a host: containers with events during it.
        self._looks: list[set[str]] = []
        self._deaf: Callable[[], None] = _do_nothing

    def start(self) -> None:
        """Observe sessions, including those that are found to have ended when they are restored."""
        self._deaf = self._hub.subscribe(self._handle_session_event)

    def follow_engines(self) -> None:
        """Follow the events of all hosts that have cases.

        Call this after the sessions are loaded.
        """
        for case in self._store.list_cases():
            self._follow_host(case)

    def stop(self) -> None:
        """Stop observing containers."""
        self._deaf()
        self._timers.cancel_all()
        self._pauses.stop()
        for events in self._events.values():
            events.stop()

    # -- what sessions tell

    def _handle_session_event(self, event: Event) -> None:
        self._pauses.handle_event(event)
        if event.session_id is None:
            return
        if event.name not in (EventName.SESSION_INTERACTIVE, EventName.SESSION_EXIT):
            return
        session = self._find_session(event.session_id)
        case = None if session is None else self._find_case(session)
        if session is None or case is None:
            return
        if event.name is EventName.SESSION_INTERACTIVE:
            self._ends.pop(session.id, None)
            self._follow_host(case)
        else:
            self._forget_old_ends()
            self._ends[session.id] = EndedSession(
                at=get_unix_ms(self._clock), oom=self._had_oom_kill(case)
            )
            self._schedule_explanation(session.id, case)

    def _follow_host(self, case: ContainerCase) -> None:
        self._record_oom_kills(case)
        hosts = {(host.id, host.engine, host.context): host for host in self._store.list_hosts()}
        for engine in self._events.keys() - hosts.keys():
            self._events.pop(engine).stop()
        for engine, host in hosts.items():
            if host.id == case.host_id:
                self._start_engine_stream(engine)

    def _start_engine_stream(self, engine: _Engine) -> None:
        if engine not in self._events:
            self._events[engine] = EngineEventStream(
                self._clock,
                self._children,
                self._environ,
                argv=partial(self._events_command, engine[0]),
                on_event=self._handle_container_event,
                on_start=partial(self._check_missed_events, engine[0]),
                is_needed=lambda: bool(self._list_cases_in_use(engine[0])),
            )
        self._events[engine].follow_events()

    def _events_command(self, host_id: str, since: int) -> list[str]:
        engine = self._hosts.get_engine(self._hosts.get(host_id))
        return engine.dialect.events_command(self._store.service_id(), since)

    def _find_case(self, session: Session) -> ContainerCase | None:
        place = session.location_id
        if place.kind is not LocationKind.CONTAINER:
            return None
        return self._store.find_by_container(place.part)

    def _list_sessions_inside(self, case: ContainerCase) -> list[Session]:
        place = get_case_location(case)
        return [session for session in self._sessions().list() if session.location_id == place]

    # -- why what ran there is over

    def _schedule_explanation(self, session_id: str, case: ContainerCase) -> None:
        spawn_logged(
            self._find_reason(session_id, case), self._log, "finding out why a session ended"
        )

    async def _find_reason(self, session_id: str, case: ContainerCase) -> None:
        try:
            seen = await self._boxes.inspect_container(case)
        except ServiceError as error:
            self._log.info("session {id}: {error}", id=session_id, error=error)
            self._timers.schedule_call(
                case.host_id, AGAIN_SECONDS, self._check_missed_events, case.host_id
            )
            return
        self._report_reason(session_id, seen)

    def _report_reason(self, session_id: str, seen: ContainerSnapshot | None) -> None:
        end, session = self._ends.get(session_id), self._find_session(session_id)
        if end is None or session is None:
            return  # reported, started again or removed already
        self._ends[session_id] = evolve(end, answered=True)
        ending = session.pane_exit
        killed = ending is None or ending.signal == "SIGKILL" or ending.status == _SIGKILL
        reason = find_exit_reason(seen, end.oom) if killed else None
        # Stopped by its user, or started again.
        if reason is None or session.pid is not None or session.status is SessionStatus.STOPPED:
            return
        del self._ends[session_id]
        self._sessions().update_record(
            session_id,
            pane_exit=evolve(ending or ProcessExit(at=end.at), reason=reason),
            status_reason=REASON_TEXTS[reason],
        )

    def _forget_old_ends(self) -> None:
        """Forget sessions that ended so long ago that the engine will not report a reason any more.

        Forget deleted sessions as well.
        """
        since = get_unix_ms(self._clock) - DEATH_SECONDS * 1000
        for name, end in tuple(self._ends.items()):
            if (end.answered and end.at < since) or self._find_session(name) is None:
                del self._ends[name]

    def _find_session(self, session_id: str) -> Session | None:
        try:
            return self._sessions().get(session_id)
        except ServiceError:
            return None

    def _record_oom_kills(self, case: ContainerCase) -> int | None:
        """Count the processes that the memory limit has killed in a container, and store the
        number.

        @return: the number; C{None} if it is unknown.
        """
        count = procfs.count_oom_kills(self._boxes.get_main_pid(case.container))
        if count is not None:
            self._ooms[case.container] = count
        return count

    def _had_oom_kill(self, case: ContainerCase) -> bool | None:
        """Return true if the memory limit killed a process in the container since the last check.

        C{None} means that this is unknown.
        """
        before = self._ooms.get(case.container)
        count = self._record_oom_kills(case)
        if count is None or before is None:
            # Docker keeps reporting an old kill.
            return False if before else None
        return count > before

    # -- what engines tell

    def _check_missed_events(self, host_id: str) -> None:
        self._timers.cancel_timer(host_id)
        self._forget_old_ends()
        spawn_logged(
            self._handle_missed_events(host_id), self._log, "inspecting the containers of an engine"
        )

    async def _handle_missed_events(self, host_id: str) -> None:
        """Determine the events that were missed while events were not followed or the engine was
        down.
        """
        cases, moved = self._list_cases_in_use(host_id), set[str]()
        self._looks.append(moved)
        try:
            seen = await self._boxes.inspect_containers(cases)
        except ServiceError as error:
            self._log.debug("{host}: {error}", host=host_id, error=error)
            if self._list_cases_in_use(host_id):
                self._timers.schedule_call(
                    host_id, AGAIN_SECONDS, self._check_missed_events, host_id
                )
            return
        finally:
            self._looks = [each for each in self._looks if each is not moved]
        for case in cases:
            self._record_oom_kills(case)
            for session in self._list_sessions_inside(case):
                it = seen.get(case.container)
                self._report_missed_session_state(
                    session, case, it, still=case.container not in moved
                )

    def _list_cases_in_use(self, host_id: str) -> list[ContainerCase]:
        """Return those cases of a host that have sessions."""
        cases = [self._find_case(session) for session in self._sessions().list()]
        found = {case.container: case for case in cases if case and case.host_id == host_id}
        return [*found.values()]

    def _report_missed_session_state(
        self, session: Session, case: ContainerCase, seen: ContainerSnapshot | None, *, still: bool
    ) -> None:
        if session.id in self._ends:
            self._report_reason(session.id, seen)
        elif session.pid is None:
            if seen is None:
                self._report_container_removed(case)
        elif still and seen is not None:
            self._report_pause_state(session, paused=seen.state is ContainerState.PAUSED)

    def _handle_container_event(self, told: ContainerEvent) -> None:
        if told.action == "destroy":
            self._ooms.pop(told.name, None)
        case = self._store.find_by_container(told.name)
        if case is None:
            return
        for moved in self._looks:
            moved.add(case.container)
        if told.action == "die":
            self._explain_ends(case)
        elif told.action == "oom":
            # Killed processes have ended by then; later ends have other causes.
            at = f"{case.container} is out of memory"
            self._timers.schedule_call(at, SETTLED_SECONDS, self._record_oom_kills, case)
        elif told.action == "destroy":
            self._report_container_removed(case)
            # An explanation of the end may be running.
            at = f"{case.container} is removed"
            self._timers.schedule_call(at, SETTLED_SECONDS, self._report_container_removed, case)
        elif told.action in ("pause", "unpause"):
            for session in self._list_sessions_inside(case):
                if session.pid is not None:
                    self._report_pause_state(session, paused=told.action == "pause")

    def _explain_ends(self, case: ContainerCase) -> None:
        """Determine again why the sessions of an ended container ended.

        The sessions end before their container, so an earlier attempt may have come too early.
        """
        self._forget_old_ends()
        for session in self._list_sessions_inside(case):
            if session.id in self._ends:
                self._schedule_explanation(session.id, case)

    def _report_container_removed(self, case: ContainerCase) -> None:
        """Set the reason of recently ended sessions to the removal of their container.

        A forced removal first kills the container, so that these sessions have another reason
        before.
        """
        since = get_unix_ms(self._clock) - REMOVAL_SECONDS * 1000
        for session in self._list_sessions_inside(case):
            ending = session.pane_exit
            if session.pid is not None or ending is None:
                continue
            if ending.reason in (STOPPED, KILLED) and ending.at >= since:
                self._sessions().update_record(
                    session.id,
                    pane_exit=evolve(ending, reason=REMOVED),
                    status_reason=REASON_TEXTS[REMOVED],
                )

    def _report_pause_state(self, session: Session, *, paused: bool) -> None:
        if paused:
            self._pauses.report_pause(session)
        else:
            self._pauses.report_resume(session)


def _do_nothing() -> None:
    """Do nothing: the initial value of callbacks that end a subscription."""
