"""HTTP operation that opens the terminal WebSocket (protocol-websocket)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from pydantic import Field

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.scopes import TYPES
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, ResponseStyle, Scope
from tservice.http.validation.models import QueryInt, QueryParameters
from tservice.sessions.interfaces import ISessions
from tservice.sessions.output.client_frames import MAX_SEQ
from tservice.sessions.output.terminal_sockets import TerminalSockets
from tservice.sessions.record.requests import CLIENT_ID_LENGTH
from tservice.sessions.routes.terminal_socket import SharedFrames, TerminalSocket

TypedCallback = Callable[[Identity, str, str, int], None]


class SocketQuery(QueryParameters):
    """Client id and position of a client in the output.

    Without a C{cid} the socket gets a new one and replaces no other.
    """

    cid: Annotated[str, Field(min_length=1, max_length=CLIENT_ID_LENGTH)] | None = None
    epoch: Annotated[str, Field(max_length=128)] | None = None
    since: Annotated[QueryInt, Field(ge=0, le=MAX_SEQ)] | None = None


class SocketRoutes:
    """WebSocket operation C{/ws/sessions/{id}/terminal}."""

    def __init__(
        self,
        sessions: ISessions,
        sockets: TerminalSockets,
        new_cid: Callable[[], str],
        typed: TypedCallback = lambda caller, address, session_id, length: None,
    ) -> None:
        """@param new_cid: returns a new client id, for clients that send none.
        @param typed: called for each input with caller, address, session id and number of
            characters.
        """
        self._typed = typed
        self._sessions = sessions
        self._sockets = sockets
        self._new_cid = new_cid
        self._frames = SharedFrames()

    @operation(
        "GET",
        "/ws/sessions/{id}/terminal",
        tag="Terminal",
        # The owner is checked after the upgrade, so that a page sees the close code.
        access=AccessRule.USER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason=TYPES,
        style=ResponseStyle.WEBSOCKET,
    )
    async def _open_terminal(self, call: OperationCall, query: SocketQuery) -> TerminalSocket:
        """Terminal stream: live output, input, sizes."""
        if not call.caller.has_scope(Scope.SESSIONS_READ):
            raise ServiceError(ErrorCode.FORBIDDEN, "The token lacks the scope sessions:read")
        return TerminalSocket(
            self._sessions,
            self._sockets,
            self._frames,
            session_id=call.id,
            caller=call.caller,
            cid=query.cid or self._new_cid(),
            epoch=query.epoch,
            since=query.since,
            typed=partial(self._typed, call.caller, call.address, call.id),
        )
