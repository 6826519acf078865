"""What befalls containers, told to the sessions in them (protocol-containers).

That a session is over is heard from its terminal; here it is found out why.  A container that is
paused ends nothing and answers nothing, so that only its engine can tell.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.containers import kernel
from tservice.containers.answers import Happening, Seen, State, read_happening
from tservice.containers.boxes import Boxes
from tservice.containers.child import OneRun
from tservice.containers.hosts import Hosts
from tservice.containers.model import ContainerCase, ContainerHost
from tservice.containers.place import place_of
from tservice.containers.store import ContainerStore
from tservice.core.clock import now_ms
from tservice.core.errors import ServiceError
from tservice.core.events import Event, EventHub, EventName
from tservice.core.places.place import PlaceKind
from tservice.core.tasks import spawn
from tservice.core.timers import Timers
from tservice.sessions.interfaces import Exit, ISessions, Session, Status

AGAIN_SECONDS = 2.0
"""Seconds until an engine whose events ended is listened to again."""
LONGEST_LINE = 256 * 1024
SETTLED_SECONDS = 1.0
"""Seconds in which the reason of an end that was just noticed has been told."""
REMOVAL_SECONDS = 60
"""Seconds at most from the end of a container that is removed by force until it is gone."""

OOM, STOPPED, KILLED, REMOVED = (
    "oom-killed",
    "container-stopped",
    "container-killed",
    "container-removed",
)
WORDS = {
    OOM: "the memory limit of its container ended it",
    STOPPED: "its container was stopped",
    KILLED: "its container was killed",
    REMOVED: "its container was removed",
}
PAUSED = "its container is paused"

_SIGKILL = 137
_TERMINATED = (0, 143)


def reason_of(seen: Seen | None, oom: bool) -> str | None:
    """Why what ran in a container is over; C{None}: not because of that.

    @param oom: the memory's limit ended something in it since it was looked at last.
    """
    if seen is None or seen.state is State.MISSING:
        return REMOVED
    if oom or seen.oom:
        return OOM
    if seen.state in (State.RUNNING, State.PAUSED):
        return None
    # Who stops a container asks first; its first process ends well then.
    return STOPPED if seen.exit_code in _TERMINATED else KILLED


class Watch:
    """Hears of ends and pauses.

    @param environ: what engines' commands start from.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        environ: dict[str, str],
        hub: EventHub,
        store: ContainerStore,
        hosts: Hosts,
        boxes: Boxes,
        sessions: Callable[[], ISessions],
    ) -> None:
        self._clock, self._processes = clock, processes
        self._environ = environ
        self._hub, self._store, self._hosts, self._boxes = hub, store, hosts, boxes
        self._sessions = sessions
        self._timers = Timers(clock)
        self._runs: dict[str, OneRun] = {}
        self._ooms: dict[str, int] = {}
        self._over = False
        self._deaf: Callable[[], None] = _nothing

    def start(self) -> None:
        """Listen to the engines of all hosts that have cases."""
        self._deaf = self._hub.subscribe(self._heard)
        for case in self._store.cases():
            self._begin(case)
            spawn(self._see(case), self._log, "looking at a container")

    async def _see(self, case: ContainerCase) -> None:
        """Learn what the memory's limit has done so far, also where a session runs on."""
        try:
            await self._boxes.look(case)
        except ServiceError as error:
            self._log.info("container {name}: {error}", name=case.container, error=error)
            return
        self._begin(case)

    def stop(self) -> None:
        """Hear nothing any more."""
        self._over = True
        self._deaf()
        self._timers.clear()
        for run in self._runs.values():
            run.kill()

    # -- what sessions tell

    def _heard(self, event: Event) -> None:
        if event.session_id is None:
            return
        if event.name not in (EventName.SESSION_INTERACTIVE, EventName.SESSION_EXIT):
            return
        try:
            session = self._sessions().get(event.session_id)
        except ServiceError:
            return  # it is gone already
        case = self._case(session)
        if case is None:
            return
        if event.name is EventName.SESSION_INTERACTIVE:
            self._begin(case)
        else:
            spawn(self._explain(session.id, case), self._log, "finding out why a session is over")

    def _begin(self, case: ContainerCase) -> None:
        host = self._store.host(case.host_id)
        if host is None:
            return
        count = kernel.oom_kills(self._boxes.first(case.container))
        if count is not None:
            self._ooms[case.container] = count
        if host.id not in self._runs and host.id not in self._timers:
            self._listen(host.id)

    def _case(self, session: Session) -> ContainerCase | None:
        place = session.place
        if place.kind is not PlaceKind.CONTAINER:
            return None
        return self._store.container(place.part)

    async def _explain(self, session_id: str, case: ContainerCase) -> None:
        count = kernel.oom_kills(self._boxes.first(case.container))
        oom = count is not None and count > self._ooms.get(case.container, count)
        if count is not None:
            self._ooms[case.container] = count
        try:
            seen = await self._boxes.look(case)
            session = self._sessions().get(session_id)
        except ServiceError as error:
            self._log.info("session {id}: {error}", id=session_id, error=error)
            return
        ending = session.pane_exit
        killed = ending is None or ending.signal == "SIGKILL" or ending.status == _SIGKILL
        reason = reason_of(seen, oom) if killed else None
        # Stopped by its user, or started again meanwhile.
        if reason is None or session.pid is not None or session.status is Status.STOPPED:
            return
        at = now_ms(self._clock)
        self._sessions().update(
            session_id,
            pane_exit=evolve(ending or Exit(at=at), reason=reason),
            status_reason=WORDS[reason],
        )

    # -- what engines tell

    def _listen(self, host_id: str) -> None:
        host = self._store.host(host_id)
        if self._over or host is None:
            return
        spawn(self._listened(host), self._log, "listening to a container engine")

    async def _listened(self, host: ContainerHost) -> None:
        rest = b""

        def heard(data: bytes) -> None:
            nonlocal rest
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-LONGEST_LINE:]
            for line in lines:
                self._happened(read_happening(line.decode(errors="replace")))

        run = self._runs[host.id] = OneRun(heard)
        try:
            engine = self._hosts.engine(host)
            argv = engine.tongue.events(self._store.service_id())
            self._processes.spawnProcess(run, argv[0], argv, env=self._environ, path="/")
            await run.ended
        except (ServiceError, OSError) as error:
            self._log.info("{host}: {error}", host=host.id, error=error)
        finally:
            self._runs.pop(host.id, None)
            if not self._over:
                self._timers.set(host.id, AGAIN_SECONDS, self._listen, host.id)

    def _happened(self, told: Happening | None) -> None:
        case = None if told is None else self._store.container(told.name)
        if told is None or case is None:
            return
        if told.action == "destroy":
            self._correct(case)
            # The end itself may be being explained just now.
            at = f"{case.container} is removed"
            self._timers.set(at, SETTLED_SECONDS, self._correct, case)
        elif told.action in ("pause", "unpause"):
            place = place_of(case)
            for session in self._sessions().list():
                if session.place == place and session.pid is not None:
                    self._tell(session, paused=told.action == "pause")

    def _correct(self, case: ContainerCase) -> None:
        """One that is removed by force is killed first, and was seen so."""
        place, since = place_of(case), now_ms(self._clock) - REMOVAL_SECONDS * 1000
        for session in self._sessions().list():
            ending = session.pane_exit
            if session.place != place or session.pid is not None or ending is None:
                continue
            if ending.reason in (STOPPED, KILLED) and ending.at >= since:
                self._sessions().update(
                    session.id,
                    pane_exit=evolve(ending, reason=REMOVED),
                    status_reason=WORDS[REMOVED],
                )

    def _tell(self, session: Session, *, paused: bool) -> None:
        if paused:
            self._sessions().update(
                session.id, durable=False, status=Status.IDLE, status_reason=PAUSED
            )
        elif session.status_reason == PAUSED:
            self._sessions().update(
                session.id, durable=False, status_reason="its container runs again"
            )


def _nothing() -> None:
    """Nobody listens yet."""
