"""Status that agents write to files or tell by their servers: evidence beside hooks and screens
(protocol-status).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import define
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.activity.activity_machine import AgentState
from tservice.agents.activity.agent_registry import AgentRegistry
from tservice.agents.channels.claude_status import parse_status
from tservice.agents.channels.codex.servers import CodexServers
from tservice.agents.channels.reported_status import ReportedStatus
from tservice.agents.channels.status_folders import StatusFile, StatusFolders
from tservice.agents.interfaces import AgentScreen
from tservice.clis.interfaces import SERVER_CHANNELS, HookSupport, ICliRegistry
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import NamedTimers
from tservice.core.locations.location import OWN_LOCATION, LocationId
from tservice.core.locations.location_registry import LocationRegistry
from tservice.sessions.interfaces import ISessions, Session, SessionLocationKind
from tservice.settings.interfaces import ISettings

CONFIRM = {AgentState.IDLE: 0.1, AgentState.WORKING: 0.5, AgentState.BLOCKED: 0.5}
"""Seconds for which a status must last before it counts: a local command is busy for a moment."""
DISAGREE = 2.0
"""Seconds after which a difference between report and screen is reported."""

_ENDS = {EventName.SESSION_EXIT, EventName.SESSION_DELETED, EventName.SESSION_INTERACTIVE}


@define(eq=False)
class _Followed:
    pid: int | None = None
    file: StatusFile | None = None
    status: ReportedStatus | None = None
    screen: str = "unknown"
    differs: tuple[ReportedStatus, str] | None = None
    is_reported: bool = False


class StatusChannel:
    """Observer of the status files of Claude Code and pi and the servers of Codex.

    On this machine only: in containers and on remote hosts the process ids and files are others, so
    nothing is read.

    @ivar disagreements: number of differences between report and screen that were reported.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: Callable[[], ISessions],
        agents: AgentRegistry,
        clis: ICliRegistry,
        settings: ISettings,
        places: LocationRegistry,
        make_folders: Callable[[Callable[[str, int, bytes], None]], StatusFolders],
        servers: CodexServers,
        get_path: Callable[[str], Path | None],
    ) -> None:
        """@param make_folders: makes the registry of followed files, which calls the argument.
        @param get_path: returns the path of a session's socket.
        """
        self._sessions = sessions
        self._agents = agents
        self._clis = clis
        self._settings = settings
        self._places = places
        self._folders = make_folders(self._handle_content)
        self._servers = servers
        self._get_path = get_path
        servers.on_status = self._handle_status
        self._followed: dict[str, _Followed] = {}
        self._evidence, self._checks = NamedTimers(clock), NamedTimers(clock)
        self._ends: list[Callable[[], None]] = []
        self.disagreements = 0

    def start(self, hub: EventHub) -> None:
        """Begin to observe screens and events."""
        self._ends = [hub.subscribe(self._handle_event), self._agents.add_observer(self._see)]

    def close(self) -> None:
        """Stop observing, and follow no file and no server."""
        for end in self._ends:
            end()
        self._ends = []
        for session_id in tuple(self._followed):
            self._drop_session(session_id)
        self._folders.close()
        self._servers.close()

    # -- what is followed

    def _see(self, look: AgentScreen) -> None:
        try:
            session = self._sessions().get(look.session_id)
        except ServiceError:
            return
        followed = self._get_followed(session)
        if followed is None:
            self._drop_session(session.id)
            return
        if followed.file is not None:
            self._folders.follow_file(session.id, followed.file)
        else:
            self._servers.follow_session(session.id)
        followed.screen = look.reading.state
        self._compare(session.id, followed)

    def _get_followed(self, session: Session) -> _Followed | None:
        """Return what is known of the session's file or server; C{None} if it has neither.

        The file is searched once for each process: a screen is looked at ten times a second, and
        the environment of a running process does not change.
        """
        if not self._has_channel(session):
            return None
        followed = self._followed.get(session.id)
        if followed is None or followed.pid != session.pid:
            file = self._find_file(session)
            if file is None and not self._may_have_server(session):
                return None
            followed = self._followed.setdefault(session.id, _Followed())
            followed.pid, followed.file = session.pid, file
        return followed

    def _find_file(self, session: Session) -> StatusFile | None:
        path = self._find_file_path(session)
        if session.pid is None or path is None:
            return None
        return StatusFile(
            place=self._places.find_earlier_location(session.location_id),
            folder=path.parent,
            name=path.name,
            pid=session.pid,
            owner=session.owner,
        )

    def _find_file_path(self, session: Session) -> Path | None:
        """Return the path of the file to which the session's agent writes its status, if any."""
        channel, entry = SERVER_CHANNELS.get(session.mode), self._clis.get_entry(session.mode)
        if channel is not None:
            path = self._get_path(session.id) if channel.writes_file else None
            own = session.location_id == OWN_LOCATION
            return None if path is None or not own else channel.choose_path(path)
        if entry is None or entry.capabilities.hooks is HookSupport.NONE:
            return None
        place = self._places.find_earlier_location(session.location_id)
        moved = self._find_moved_folder(session, place.id)
        base = Path(moved) if moved.startswith("/") else place.home / ".claude"
        return base / "sessions" / f"{session.pid}.json"

    def _has_channel(self, session: Session) -> bool:
        off = session.mode in self._settings.get().agent_channels_off
        local = session.location is SessionLocationKind.LOCAL
        return session.pid is not None and local and not off

    def _may_have_server(self, session: Session) -> bool:
        own = session.location_id == OWN_LOCATION
        channel = SERVER_CHANNELS.get(session.mode)
        return own and channel is not None and not channel.writes_file

    def _find_moved_folder(self, session: Session, place: LocationId) -> str:
        """Return the value of C{CLAUDE_CONFIG_DIR} in the session's pane; C{""} if it is unset."""
        given = session.env_overrides
        if place == OWN_LOCATION:
            given = dict(self._clis.build_pane_environment(session.mode, given))
        return given.get("CLAUDE_CONFIG_DIR", "")

    def _handle_event(self, event: Event) -> None:
        if event.name in _ENDS and event.session_id is not None:
            self._drop_session(event.session_id)
        if event.name is EventName.SESSION_DELETED and event.session_id is not None:
            self._servers.remove_socket(event.session_id)

    def _drop_session(self, session_id: str) -> None:
        followed = self._followed.pop(session_id, None)
        self._folders.drop_session(session_id)
        self._servers.drop_session(session_id)
        self._evidence.cancel_timer(session_id)
        self._checks.cancel_timer(session_id)
        if followed is not None and followed.is_reported:
            self._show_difference(session_id, None)

    # -- evidence

    def _handle_content(self, session_id: str, pid: int, content: bytes) -> None:
        followed = self._followed.get(session_id)
        if followed is not None and followed.file is not None:
            is_shared = followed.file.name == f"{pid}.json"
            self._handle_status(session_id, parse_status(content, pid if is_shared else None))

    def _handle_status(self, session_id: str, status: ReportedStatus | None) -> None:
        followed = self._followed.get(session_id)
        if followed is None or status == followed.status:
            return
        followed.status = status
        self._evidence.cancel_timer(session_id)
        if status is not None and status.doing is not None:
            delay = self._get_delay(session_id, status.doing)
            self._evidence.schedule_call(session_id, delay, self._tell, session_id, status)
        self._compare(session_id, followed)

    def _get_delay(self, session_id: str, doing: AgentState) -> float:
        """Return the seconds for which the status must last; none after an answer to a dialog.

        A hook announces most dialogs, and must come first.
        """
        watch = self._agents.get_watch(session_id)
        asked = watch is not None and watch.tracker.state is AgentState.BLOCKED
        return 0.0 if asked and doing is AgentState.WORKING else CONFIRM[doing]

    def _tell(self, session_id: str, status: ReportedStatus) -> None:
        watch = self._agents.get_watch(session_id)
        if watch is not None and status.doing is not None:
            watch.tracker.record_channel_status(status.doing, status.since, status.words)

    # -- differences

    def _compare(self, session_id: str, followed: _Followed) -> None:
        status = followed.status
        if status is None or status.agrees_with(followed.screen) is not False:
            followed.differs = None
            self._checks.cancel_timer(session_id)
            if followed.is_reported:
                followed.is_reported = False
                self._show_difference(session_id, None)
            return
        now = (status, followed.screen)
        if followed.differs != now:
            followed.differs = now
            self._checks.schedule_call(session_id, DISAGREE, self._start_check, session_id)

    def _start_check(self, session_id: str) -> None:
        spawn_logged(self._check_again(session_id), self._log, "comparing a status with its screen")

    async def _check_again(self, session_id: str) -> None:
        """Report the difference if a new capture of the screen still shows it."""
        followed = self._followed.get(session_id)
        before = None if followed is None else followed.differs
        try:
            await self._agents.capture_screen(session_id)  # it reaches _see
        except ServiceError:
            return
        if followed is None or before is None or self._followed.get(session_id) is not followed:
            return
        if followed.differs == before and not followed.is_reported:
            followed.is_reported = True
            self.disagreements += 1
            words = f"{before[0].words}, screen: {before[1]}"
            self._log.warn("session {id}: {words}", id=session_id, words=words)
            self._show_difference(session_id, words)

    def _show_difference(self, session_id: str, words: str | None) -> None:
        try:
            if self._sessions().get(session_id).status_conflict != words:
                self._sessions().update_record(session_id, durable=False, status_conflict=words)
        except ServiceError:
            return  # the session and its record are gone
