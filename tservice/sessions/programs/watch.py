"""Observation of what runs in the panes of this machine (protocol-session)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from tservice.clis.interfaces import PRIMARY, CliKind, ICliRegistry
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.values.text import shorten_text
from tservice.core.workers.worker_pool import IThreads
from tservice.mux.outputlog import OutputLog
from tservice.sessions.interfaces import ISessions
from tservice.sessions.programs.process_reading import (
    ListeningSockets,
    PaneProgram,
    read_foreground,
    read_listening_sockets,
)
from tservice.sessions.record.model import (
    ForegroundProgram,
    NameSource,
    Session,
    SessionLocationKind,
)
from tservice.terminal.model_name import sanitize_text

EVERY = 2.0
"""Seconds from one look to the next."""
READ_MAX = 64 * 1024
"""Maximum number of bytes that are searched for the end of a command in one look."""

_COMMAND_ENDED = re.compile(rb"\x1b\]133;D;(\d{1,3})(?:\x07|\x1b\\)")
TITLE_LENGTH = 40
"""Maximum characters of a name that an agent gives its session."""
_TOPIC = re.compile(r"[✳⠀-⣿◐-◓] (\w.{3,})")
"""Window title of Claude Code: its state, and what the conversation is about."""
_MARK_BYTES = 16
"""Bytes that are searched again, in case a mark was only half printed."""
_NOTHING: dict[str, Any] = {
    "foreground": None,
    "last_exit_status": None,
    "server_ports": None,
}


@frozen(kw_only=True)
class Look:
    """Result of one look at all panes."""

    sockets: ListeningSockets
    foreground: dict[str, ForegroundProgram | None] = field(factory=dict)


ReadPrograms = Callable[[Sequence[PaneProgram], ListeningSockets, int], Look]
"""Looks at all panes; blocks."""


def read_programs(programs: Sequence[PaneProgram], before: ListeningSockets, now: int) -> Look:
    """Look at the programs in all panes.  Blocks."""
    return Look(
        sockets=read_listening_sockets(before, programs),
        foreground={it.session_id: read_foreground(it, now) for it in programs if it.is_shell},
    )


class _PromptMarks:
    """Reader of the marks that a shell prints when a command has ended.

    @ivar status: exit status of the last command; C{None} before the first mark.
    """

    def __init__(self) -> None:
        self.status: int | None = None
        self._epoch = ""
        self._offset = 0

    def read(self, log: OutputLog) -> None:
        """Search what was printed since the last call."""
        if log.epoch != self._epoch:
            self._epoch, self._offset, self.status = log.epoch, log.start, None
        start = max(self._offset - _MARK_BYTES, log.start, log.end - READ_MAX)
        for found in _COMMAND_ENDED.finditer(log.read(start, READ_MAX)):
            self.status = int(found[1])
        self._offset = log.end


class ProgramWatch:
    """Looks regularly at what runs in the panes, and records it in the sessions."""

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sessions: ISessions,
        clis: ICliRegistry,
        threads: IThreads,
        read: ReadPrograms = read_programs,
    ) -> None:
        self._clock, self._sessions, self._clis = clock, sessions, clis
        self._threads, self._read = threads, read
        self._sockets = ListeningSockets()
        self._known: frozenset[tuple[str, int]] = frozenset()
        self._marks: dict[str, _PromptMarks] = {}
        self._named: dict[str, int] = {}
        self._loop = LoopingCall(lambda: spawn_logged(self.look(), self._log, "a look at programs"))
        self._loop.clock = clock
        self._ended: Deferred[LoopingCall] | None = None

    def start(self) -> None:
        """Begin to look regularly."""
        self._ended = self._loop.start(EVERY, now=False)

    def stop(self) -> Deferred[LoopingCall] | None:
        """Look no more; fires once a look that has begun is finished."""
        if self._ended is not None:
            self._loop.stop()
        return self._ended

    async def look(self) -> None:
        """Look once at every pane, and record what has changed."""
        sessions = self._sessions.list()
        programs = [each for each in map(self._find_program, sessions) if each is not None]
        self._forget_ended(sessions, programs)
        if not programs:
            return
        now = get_unix_ms(self._clock)
        work = partial(self._read, programs, self._sockets, now)
        try:
            found: Look = await self._threads.run(work)
        except ServiceError as error:
            self._log.info("the programs in the panes were not read: {error}", error=error)
            return
        self._sockets = found.sockets
        for program in programs:
            self._record(program, found)

    def _find_program(self, session: Session) -> PaneProgram | None:
        if session.pid is None or session.location is not SessionLocationKind.LOCAL:
            return None
        entry = self._clis.get_entry(session.mode)
        is_shell = entry is not None and entry.kind is CliKind.SHELL
        return PaneProgram(session_id=session.id, pid=session.pid, is_shell=is_shell)

    def _forget_ended(self, sessions: Sequence[Session], programs: list[PaneProgram]) -> None:
        """Drop what is known of programs that have ended."""
        running = {program.session_id for program in programs}
        known = frozenset((program.session_id, program.pid) for program in programs)
        if known - self._known:
            # A socket may be older than the session that it belongs to: the service restarted.
            self._sockets = ListeningSockets()
        self._known = known
        self._marks = {name: marks for name, marks in self._marks.items() if name in running}
        self._named = {name: pid for name, pid in self._named.items() if name in running}
        for session in sessions:
            if session.id not in running:
                self._change(session, _NOTHING)

    def _record(self, program: PaneProgram, found: Look) -> None:
        try:
            session = self._sessions.get(program.session_id)
            pane = self._sessions.get_pane(program.session_id)
        except ServiceError:
            return  # it was deleted meanwhile
        if session.pid != program.pid or pane is None:
            return
        fields: dict[str, Any] = {
            "server_ports": found.sockets.list_ports(program.session_id),
        }
        if program.is_shell:
            marks = self._marks.setdefault(program.session_id, _PromptMarks())
            marks.read(pane.log)
            running = _keep_start(session.foreground, found.foreground.get(program.session_id))
            fields["foreground"] = running
            fields["last_exit_status"] = None if running else marks.status
        self._change(session, fields)
        self._name_after_topic(session, program.pid, pane.title)

    def _name_after_topic(self, session: Session, pid: int, title: str) -> None:
        """Name a session after what its agent says that the conversation is about.

        This happens once for each process: a name that changes is not found again.
        """
        if session.mode != PRIMARY or self._named.get(session.id) == pid:
            return
        entry = self._clis.get_entry(session.mode)
        found = _TOPIC.fullmatch(sanitize_text(title, 4 * TITLE_LENGTH) or "")
        if found is None or (entry is not None and found[1] == entry.label):
            return
        self._named[session.id] = pid
        if session.name_source is not NameSource.MANUAL:
            name = shorten_text(found[1], TITLE_LENGTH)
            self._sessions.rename_session(session.id, name, NameSource.AUTO)

    def _change(self, session: Session, fields: dict[str, Any]) -> None:
        changed = {n: value for n, value in fields.items() if getattr(session, n) != value}
        if changed:
            self._sessions.update_record(session.id, durable=False, **changed)


def _keep_start(
    before: ForegroundProgram | None, now: ForegroundProgram | None
) -> ForegroundProgram | None:
    """Return the program as it was recorded, if it is the same: computed times differ a little."""
    if before and now and before.name == now.name and abs(before.since - now.since) < EVERY * 1000:
        return before
    return now
