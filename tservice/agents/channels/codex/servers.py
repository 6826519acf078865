"""Servers of Codex' sessions, to which the service is a second client (protocol-codex-server).

The server belongs to the pane. The service starts none, and connects again after a restart.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from attrs import define, evolve, field, frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.agents.channels.codex.connection import ConnectServer, ServerConnection
from tservice.agents.channels.codex.messages import (
    UNWANTED,
    CommandRequest,
    ServerThread,
    parse_message,
    parse_request,
    parse_thread,
    parse_thread_status,
)
from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.agents.channels.reported_status import ReportedState, ReportedStatus
from tservice.agents.model import HookEvent, HookNotice
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.tasks import spawn_logged

RETRY = 5.0
"""Seconds until a server that could not be reached is tried again, if a screen changes then."""
MOST_THREADS = 64
"""Maximum number of known conversations of a server; the oldest is forgotten first."""
MOST_REQUESTS = 16
"""Maximum number of questions of a server; later ones are left to the keys."""
MOST_CALLS = 64
"""Maximum number of calls of a server without an answer; no further call is made then."""
FIRST_READ = 20
"""Maximum number of conversations that are read when a connection begins, the newest ones."""
SOURCE = "app-server"

ReportEvent = Callable[[HookEvent, str, Mapping[str, Any]], HookNotice]
CaptureScreen = Callable[[str], Coroutine[Any, Any, object]]


@frozen(kw_only=True, eq=False)
class PendingRequest:
    """Question that waits for an answer.

    @ivar began: seconds of the clock at which it came.
    """

    session_id: str
    request: CommandRequest
    digest: str
    began: float


@define(eq=False)
class _Server:
    """State of the connection to one session's server."""

    session_id: str
    next_try: float = 0.0
    end: Callable[[], None] | None = None
    connection: ServerConnection | None = None
    calls: dict[int, Callable[[Mapping[str, Any]], None]] = field(factory=dict)
    last_call: int = 0
    threads: dict[str, ServerThread] = field(factory=dict)
    joined: set[str] = field(factory=set)
    requests: dict[int | str, PendingRequest] = field(factory=dict)
    told: tuple[ReportedState, str] | None = None

    def clear_connection(self) -> None:
        self.end = self.connection = self.told = None
        self.calls, self.threads, self.joined, self.requests = {}, {}, set(), {}


@define(eq=False)
class _Listener:
    """Receiver of one connection's events."""

    servers: CodexServers
    server: _Server

    def connection_opened(self, connection: ServerConnection) -> None:
        self.servers.begin_connection(self.server, connection)

    def message_received(self, payload: bytes) -> None:
        self.servers.handle_message(self.server, payload)

    def connection_ended(self) -> None:
        self.server.clear_connection()


class CodexServers:
    """Registry of the servers that are listened to.

    @ivar on_status: called with a session and the new status of its agent.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        sockets: CodexSockets,
        connect: ConnectServer,
        report: ReportEvent,
        capture: CaptureScreen,
    ) -> None:
        """@param report: handles the event of a dialog as if a hook had reported it.
        @param capture: captures the screen of a session.
        """
        self._clock = clock
        self._sockets = sockets
        self._connect = connect
        self._report = report
        self._capture = capture
        self._servers: dict[str, _Server] = {}
        self.on_status: Callable[[str, ReportedStatus], None] = lambda session_id, status: None

    def __len__(self) -> int:
        return len(self._servers)

    def follow_session(self, session_id: str) -> None:
        """Listen to the session's server, if it has one and is not listened to already."""
        server = self._servers.setdefault(session_id, _Server(session_id))
        path = self._sockets.get_path(session_id)
        if path is None or server.end is not None or self._clock.seconds() < server.next_try:
            return
        server.next_try = self._clock.seconds() + RETRY
        server.end = lambda: None  # an attempt that fails at once clears it
        end = self._connect(path, _Listener(self, server))
        if server.end is not None:
            server.end = end

    def drop_session(self, session_id: str) -> None:
        """Listen to the session's server no longer."""
        server = self._servers.pop(session_id, None)
        if server is not None and server.end is not None:
            end = server.end
            server.clear_connection()
            end()

    def remove_socket(self, session_id: str) -> None:
        """Remove what the server of a deleted session left behind."""
        spawn_logged(self._sockets.remove(session_id), self._log, "removing a server's socket")

    def close(self) -> None:
        """End all connections; the servers run on."""
        for session_id in tuple(self._servers):
            self.drop_session(session_id)

    # -- questions

    def find_request(self, session_id: str, digest: str | None) -> PendingRequest | None:
        """Return the oldest question about those inputs; C{None} if there is none."""
        server = self._servers.get(session_id)
        found = () if server is None or digest is None else server.requests.values()
        return next((each for each in found if each.digest == digest), None)

    def answer_request(self, pending: PendingRequest, decision: str) -> bool:
        """Answer a question, and return false if it no longer waits.

        The server takes the first answer to each question, and ignores all others.
        """
        server = self._servers.get(pending.session_id)
        name = pending.request.id
        if server is None or server.connection is None or server.requests.get(name) is not pending:
            return False
        del server.requests[name]
        self._send(server, {"id": name, "result": {"decision": decision}})
        return True

    # -- messages

    def begin_connection(self, server: _Server, connection: ServerConnection) -> None:
        """Introduce the service to a server."""
        server.connection = connection
        about = {
            "clientInfo": {"name": "tservice", "title": "tservice", "version": "1"},
            "capabilities": {"optOutNotificationMethods": list(UNWANTED)},
        }

        def handle_answer(_: Mapping[str, Any]) -> None:
            self._send(server, {"method": "initialized"})
            self._call(server, "thread/loaded/list", {}, read_threads)

        def read_threads(result: Mapping[str, Any]) -> None:
            found = result.get("data")
            names = (
                [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
            )
            for name in sorted(names)[-FIRST_READ:]:
                self._read_thread(server, name)

        self._call(server, "initialize", about, handle_answer)

    def handle_message(self, server: _Server, payload: bytes) -> None:
        """Handle a message of a server."""
        message = parse_message(payload)
        if message is None:
            return
        if "method" not in message:
            self._handle_answer(server, message)
            return
        found = message.get("params")
        params: Mapping[str, Any] = found if isinstance(found, dict) else {}
        match message["method"]:
            case "thread/started":
                self._handle_thread(server, params.get("thread"))
            case "thread/status/changed":
                self._handle_status(server, params)
            case "thread/closed":
                server.threads.pop(str(params.get("threadId")), None)
                self._tell_status(server)
            case "serverRequest/resolved":
                self._handle_resolved(server, params.get("requestId"))
            case _:
                self._handle_request(server, parse_request(message))

    def _handle_answer(self, server: _Server, message: Mapping[str, Any]) -> None:
        name, result = message.get("id"), message.get("result")
        handle = server.calls.pop(name, None) if type(name) is int else None
        if handle is not None and isinstance(result, dict):
            handle(result)

    def _call(
        self,
        server: _Server,
        method: str,
        params: Mapping[str, Any],
        handle: Callable[[Mapping[str, Any]], None],
    ) -> None:
        if len(server.calls) >= MOST_CALLS:
            return
        server.last_call += 1
        server.calls[server.last_call] = handle
        self._send(server, {"id": server.last_call, "method": method, "params": params})

    def _send(self, server: _Server, message: Mapping[str, Any]) -> None:
        if server.connection is not None:
            server.connection.send_message(json.dumps(message).encode())

    # -- conversations

    def _read_thread(self, server: _Server, name: str) -> None:
        def handle_answer(result: Mapping[str, Any]) -> None:
            self._handle_thread(server, result.get("thread"))

        self._call(server, "thread/read", {"threadId": name}, handle_answer)

    def _handle_thread(self, server: _Server, found: object) -> None:
        thread = parse_thread(found)
        if thread is not None:
            self._put_thread(server, thread)

    def _handle_status(self, server: _Server, params: Mapping[str, Any]) -> None:
        name, status = params.get("threadId"), parse_thread_status(params.get("status"))
        if not isinstance(name, str) or status is None:
            return
        known = server.threads.get(name)
        if known is None:
            self._read_thread(server, name)
        else:
            self._put_thread(server, evolve(known, state=status[0], waiting_for=status[1]))

    def _put_thread(self, server: _Server, thread: ServerThread) -> None:
        if thread.id not in server.threads and len(server.threads) >= MOST_THREADS:
            oldest = next(iter(server.threads))
            del server.threads[oldest]
            server.joined.discard(oldest)
        server.threads[thread.id] = thread
        waits = thread.state is ReportedState.WAITING
        if waits and thread.is_shown and thread.id not in server.joined:
            # A client that joins is sent the questions that wait, and then all others.
            server.joined.add(thread.id)
            params = {"threadId": thread.id, "excludeTurns": True}
            self._call(server, "thread/resume", params, lambda result: None)
        self._tell_status(server)

    def _tell_status(self, server: _Server) -> None:
        shown = [each for each in server.threads.values() if each.is_shown]
        waiting = [each for each in shown if each.state is ReportedState.WAITING]
        busy = [each for each in shown if each.is_main and each.state is ReportedState.BUSY]
        rest = [each for each in shown if each.is_main]
        chosen = next(iter(waiting or busy or rest), None)
        now = None if chosen is None else (chosen.state, chosen.waiting_for)
        if now is None or now == server.told:
            return
        server.told = now
        status = ReportedStatus(
            source=SOURCE,
            state=now[0],
            waiting_for=now[1],
            since=get_unix_ms(self._clock),
            knows_pages=False,
        )
        self.on_status(server.session_id, status)

    # -- questions of the agent

    def _handle_request(self, server: _Server, request: CommandRequest | None) -> None:
        if request is None or request.id in server.requests:
            return
        if len(server.requests) >= MOST_REQUESTS:
            return
        try:
            notice = self._report(HookEvent.PERMISSION_PROMPT, server.session_id, request.data)
        except ServiceError:
            return  # the session is gone
        server.requests[request.id] = PendingRequest(
            session_id=server.session_id,
            request=request,
            digest=str(notice.data.get("tool_digest")),
            began=self._clock.seconds(),
        )

    def _handle_resolved(self, server: _Server, name: object) -> None:
        pending = server.requests.pop(name, None) if isinstance(name, int | str) else None
        if pending is None:
            return
        try:
            self._report(HookEvent.TOOL_ENDED, server.session_id, pending.request.data)
        except ServiceError:
            return
        # A person's key was first, or a rule of the agent: the item ends with the dialog.
        spawn_logged(self._look(server.session_id), self._log, "looking for the end of a dialog")

    async def _look(self, session_id: str) -> None:
        try:
            await self._capture(session_id)
        except ServiceError:
            return  # the session and its screen are gone
