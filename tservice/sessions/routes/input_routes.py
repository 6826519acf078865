"""HTTP operation for input, alone or with a wait for the turn that the input begins
(protocol-input, protocol-waits).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from attrs import evolve
from pydantic import Field, StringConstraints

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import TYPES
from tservice.core.values.payload import omit_if_false, omit_if_none
from tservice.http.envelope import NO_STORE
from tservice.http.operation_decorator import operation
from tservice.http.operations import (
    AccessRule,
    AuditMode,
    OperationCall,
    RawReply,
    ResponseStyle,
    Scope,
)
from tservice.http.validation.body_limits import LEAST_BODY_LIMIT, LONGEST_CHARACTER
from tservice.http.validation.models import RequestBody
from tservice.sessions.input.accept.classify import refuse_control_characters
from tservice.sessions.interfaces import InputDelivery, ISessions
from tservice.sessions.record.requests import (
    CLIENT_ID_LENGTH,
    INPUT_LENGTH,
    SEQ_LIMIT,
    InputRequest,
)
from tservice.sessions.routes.responses import BufferedInputResponse, DeliveryResponse
from tservice.sessions.waits.service import WaitRequest, WaitService
from tservice.sessions.waits.signal_waits import TIMEOUT_DEFAULT
from tservice.sessions.waits.wait_routes import BUSY, WaitResponse, parse_until

BODY_LIMIT = LONGEST_CHARACTER * INPUT_LENGTH + LEAST_BODY_LIMIT
"""Maximum bytes of a request body: the longest input with each character escaped, and the other
fields.
"""

_Signals = Annotated[str, StringConstraints(max_length=256)]


class InputBody(RequestBody):
    """Input to type, and the signals to wait for afterwards.

    The length of C{input} is checked separately: it gives a 413. C{wait} is C{true} for the default
    signals, a comma list or a list of signals. C{null}, C{false} and an empty text mean none.
    """

    input: str
    use_mux: bool | None = None
    client_id: (
        Annotated[str, StringConstraints(min_length=1, max_length=CLIENT_ID_LENGTH)] | None
    ) = None
    seq: Annotated[int, Field(ge=0, le=SEQ_LIMIT)] | None = None
    wait: bool | _Signals | Annotated[list[_Signals], Field(max_length=32)] | None = None
    wait_timeout: Annotated[int, Field(gt=0)] | None = None

    def make_request(self, sender: Identity) -> InputRequest:
        """Return the input request of this body, typed by C{sender}."""
        return InputRequest(
            text=self.input,
            use_mux=self.use_mux,
            client_id=self.client_id,
            seq=self.seq,
            may_wait=not self.wait,
            sender=sender,
        )

    def make_wait_request(self) -> WaitRequest | None:
        """Return the requested wait; C{None} without one.

        @raise ServiceError: 400 naming an unknown signal.
        """
        if not self.wait:
            return None
        texts = [self.wait] if isinstance(self.wait, str) else self.wait
        until = None if texts is True else parse_until(texts, "wait")
        return WaitRequest(until=until, timeout_ms=self.wait_timeout or TIMEOUT_DEFAULT)


class InputWaitResponse(WaitResponse):
    """Result of the input, and of the wait."""

    delivered: bool
    duplicate: bool
    opened: str | None = omit_if_none()
    put_aside: bool = omit_if_false()


class InputRoutes:
    """HTTP operations of C{/api/sessions/{id}/input}."""

    def __init__(self, sessions: ISessions, waiting: WaitService) -> None:
        self._sessions = sessions
        self._waiting = waiting

    @operation(
        "POST",
        "/api/sessions/{id}/input",
        tag="Terminal",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason=TYPES,
        style=ResponseStyle.LONG_POLL,
        response_model=DeliveryResponse | BufferedInputResponse | InputWaitResponse,
        body_limit=BODY_LIMIT,
        audit=AuditMode.SUMMED,
        errors=(
            *BUSY,
            ErrorCode.INVALID_INPUT,
            ErrorCode.CONFLICT,
            ErrorCode.OPERATION_FAILED,
            ErrorCode.PAYLOAD_TOO_LARGE,
        ),
    )
    async def _send_input(
        self, call: OperationCall, body: InputBody
    ) -> DeliveryResponse | BufferedInputResponse | RawReply:
        """Type a prompt or raw bytes, and optionally wait."""
        refuse_control_characters(body.input, body.use_mux)
        wanted = body.make_wait_request()
        if wanted is not None:
            return await self._input_and_wait(call, body.make_request(call.caller), wanted)
        done = await self._sessions.send_input(call.id, body.make_request(call.caller))
        if done.buffered:
            return BufferedInputResponse(dropped=done.dropped)
        if done.duplicate:
            return DeliveryResponse(delivered=False, duplicate=True)
        return DeliveryResponse(
            delivered=done.delivered, opened=done.opened, put_aside=done.put_aside
        )

    async def _input_and_wait(
        self, call: OperationCall, request: InputRequest, wanted: WaitRequest
    ) -> RawReply:
        async def deliver_input(submitting: Callable[[], None]) -> InputDelivery:
            return await self._sessions.send_input(call.id, evolve(request, submitting=submitting))

        found = await self._waiting.input_and_wait(call.id, wanted, call.caller, deliver_input)
        return RawReply(content=InputWaitResponse.model_validate(found), headers=NO_STORE)
