"""Routes of C{/api/tunnel} for the tunnel, and C{/q} for the sign-in with a code
(protocol-tunnel).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import cast

from attrs import asdict, frozen

from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.scopes import READS_SERVICE_STATE
from tservice.http.envelope import NO_STORE, HttpRefusal, make_bare_refusal
from tservice.http.gate import make_lockout_refusal
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, ResponseStyle, Scope
from tservice.http.request import ServiceRequest
from tservice.http.security.hosts import is_address, parse_host
from tservice.http.validation.models import ResponseModel
from tservice.tunnel.qr_login import QrDisplay, QrLogin, TooManyGuesses, draw_qr_code
from tservice.tunnel.service import TunnelService

HEADERS = {**NO_STORE, "Referrer-Policy": "no-referrer"}
"""Headers of every response with a code or its URL, so that neither is stored or sent elsewhere."""

WRONG = "Unauthorized: this code is used or expired; scan the current one"


class AuthSessionAnswer(ResponseModel):
    """Signed-in session. C{id} is not the cookie. C{current} is true for the caller's session."""

    id: str
    username: str
    ip: str
    ua: str
    created_at: int
    method: str
    current: bool = False


class TunnelAnswer(ResponseModel):
    """State of the tunnel; C{url} is null while it starts."""

    running: bool
    url: str | None


class TunnelStatusAnswer(TunnelAnswer):
    """State of the tunnel, and the signed-in sessions."""

    sse_clients: int
    auth_sessions: list[AuthSessionAnswer]


class PhoneAnswer(ResponseModel):
    """Way from a phone to the service without the service's own tunnel.

    @ivar url: URL that other devices can use.  Null if there is none.
    @ivar svg: the URL as a QR code, without a code that signs in.
    @ivar programs: programs on this machine that can open a tunnel.
    """

    url: str | None
    svg: str | None
    programs: list[str]


class QrAnswer(ResponseModel):
    """QR code to scan. C{expires_at} is the time at which the next code replaces it.

    Without authentication it contains no code and does not expire.
    """

    svg: str
    url: str
    expires_at: int | None
    auth_enabled: bool


@frozen(kw_only=True)
class SignInContext:
    """Functions of the sign-in that the tunnel's routes need.

    @ivar auth_sessions: returns all signed-in sessions.
    @ivar sse_clients: returns the number of open event streams.
    @ivar phone_url: returns a URL of a listener that other machines can connect to, or C{None}.
    @ivar find_programs: returns the names of installed programs that can open a tunnel.
    @ivar set_cookie: returns the C{Set-Cookie} header for a cookie's value, in response to a
        request.
    """

    auth_sessions: Callable[[], Sequence[AuthSessionAnswer]]
    phone_url: Callable[[], str | None]
    find_programs: Callable[[], Awaitable[list[str]]]
    sse_clients: Callable[[], int]
    set_cookie: Callable[[str, AuthenticationRequest], str]


_TUNNEL = OperationFields(
    tag="Access",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "The tunnel requires a password like every other listener, and a token cannot see its code."
    ),
)
_CODES = OperationFields(
    tag="Access",
    access=AccessRule.ADMIN,
    scope_reason="Anyone who sees the code can get the cookie of its admin.",
    response_model=QrAnswer,
    errors=(ErrorCode.NOT_FOUND,),
)


class TunnelRoutes:
    """Routes of the tunnel for admins, and the sign-in with a scanned code."""

    def __init__(self, tunnel: TunnelService, login: QrLogin, perimeter: SignInContext) -> None:
        self._tunnel, self._login, self._perimeter = tunnel, login, perimeter

    @operation(
        "POST",
        "/api/tunnel/start",
        _TUNNEL,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.OPERATION_FAILED),
    )
    async def start_tunnel(self, call: OperationCall) -> TunnelAnswer:
        """Start the tunnel, and wait for its address."""
        await self._tunnel.start(call.caller)
        return self._state_response()

    @operation("POST", "/api/tunnel/stop", _TUNNEL)
    async def stop_tunnel(self, call: OperationCall) -> TunnelAnswer:
        """Stop the tunnel."""
        await self._tunnel.stop()
        return self._state_response()

    @operation(
        "GET",
        "/api/tunnel/status",
        tag="Access",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
    )
    async def get_status(self, call: OperationCall) -> TunnelStatusAnswer:
        """Get the state of the tunnel, and the signed-in sessions."""
        return TunnelStatusAnswer(
            running=self._tunnel.is_running,
            url=self._tunnel.url,
            sse_clients=self._perimeter.sse_clients(),
            auth_sessions=self._list_sessions(call.caller.auth_session),
        )

    @operation(
        "GET",
        "/api/tunnel/phone",
        tag="Access",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
    )
    async def get_phone_address(self, call: OperationCall) -> PhoneAnswer:
        """Get a URL that a phone can use without the tunnel, and the tunnel programs."""
        url = find_shared_origin(cast(ServiceRequest, call.request).visit)
        url = url or self._perimeter.phone_url()
        return PhoneAnswer(
            url=url,
            svg=None if url is None else draw_qr_code(url),
            programs=await self._perimeter.find_programs(),
        )

    @operation("GET", "/api/tunnel/qr", _CODES)
    async def get_qr_code(self, call: OperationCall) -> RawReply:
        """Get a code that signs one device in."""
        return self._qr_response(call, self._login.get_display)

    @operation("POST", "/api/tunnel/qr/regenerate", _CODES)
    async def regenerate_code(self, call: OperationCall) -> RawReply:
        """Create another code; invalidates your older ones."""
        return self._qr_response(call, self._login.regenerate_code)

    @operation(
        "GET",
        "/q/{code}",
        tag="Access",
        access=AccessRule.CAPABILITY,
        scope_reason=(
            "The code in the path gives a cookie of an admin. It is shown to people only."
        ),
        style=ResponseStyle.RAW,
        status=302,
        errors=(ErrorCode.UNAUTHORIZED,),
    )
    async def sign_in(self, call: OperationCall) -> RawReply:
        """Sign in with a scanned code, which works only once.

        @raise HttpRefusal: 401 in plain text for an invalid code; 429 after too many wrong codes.
        """
        request = cast(ServiceRequest, call.request)
        home = f"{request.visit.base}/"
        if request.method == b"HEAD":
            # A preview of the address, as by some messengers, must not use up the code.
            return RawReply(content=b"", status=302, headers={**HEADERS, "Location": home})
        try:
            opened = self._login.sign_in_with_code(
                call.path["code"], call.address, call.get_header("user-agent") or ""
            )
        except TooManyGuesses as error:
            raise _add_headers(make_lockout_refusal(error.seconds)) from None
        if opened is None:
            raise _add_headers(make_bare_refusal(401, WRONG))
        token, key = opened
        # In the fragment, which reaches the page but no server.
        headers = {
            **HEADERS,
            "Location": f"{home}#key={key}",
            "Set-Cookie": self._perimeter.set_cookie(token, request.visit),
        }
        return RawReply(content=b"", content_type="text/plain", status=302, headers=headers)

    def _list_sessions(self, own: str | None) -> list[AuthSessionAnswer]:
        sessions = self._perimeter.auth_sessions()
        return [one.model_copy(update={"current": one.id == own}) for one in sessions]

    def _state_response(self) -> TunnelAnswer:
        return TunnelAnswer(running=self._tunnel.is_running, url=self._tunnel.url)

    def _qr_response(self, call: OperationCall, ask: Callable[[str], QrDisplay]) -> RawReply:
        answer = QrAnswer(**asdict(ask(call.caller.username)))
        return RawReply(content=answer, headers=HEADERS)


def find_shared_origin(visit: AuthenticationRequest) -> str | None:
    """Return the URL of the page that sent a request; C{None} if only this machine can use it."""
    host = parse_host(visit.host)
    if host is None or host.name == "localhost":
        return None
    if is_address(host.name) and ip_address(host.name).is_loopback:
        return None
    scheme = "https" if visit.secure else "http"
    return f"{scheme}://{visit.host}{visit.base}/"


def _add_headers(refusal: HttpRefusal) -> HttpRefusal:
    """Return C{refusal} with L{HEADERS} added."""
    response = refusal.response
    return make_bare_refusal(
        response.status, response.content.decode(), {**response.headers, **HEADERS}
    )
