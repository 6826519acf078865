"""Routes to sign in, to sign out, and to get the caller's identity (protocol-login)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from pydantic import Field

from tservice.access.accounts.account import LONGEST_PASSWORD
from tservice.access.authenticators import may_admit_page, parse_basic_header
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.first_password import PasswordSetup
from tservice.access.model import format_cleared_cookie, format_session_cookie
from tservice.access.passwords.failures import TooManySignIns
from tservice.access.passwords.hashing import BUSY_SECONDS, TooManyChecks
from tservice.access.passwords.sign_in import PasswordChecker
from tservice.core.callers.authentication import AuthenticationRequest
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import (
    ErrorCode,
    make_conflict_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import CHANGES_SIGN_IN
from tservice.http.gate import make_lockout_refusal, make_unauthorized_refusal
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, RawReply
from tservice.http.request import ServiceRequest
from tservice.http.security.own_machine import is_from_this_machine
from tservice.http.validation.models import RequestBody, ResponseModel


class LoginBody(RequestBody):
    """Credentials from the login page. Without a body, Basic authentication is used."""

    username: str | None = Field(None, max_length=256)
    password: str | None = Field(None, max_length=1024)


class RevokeBody(RequestBody):
    """Session to end; without an id, every session ends."""

    session_id: str | None = Field(None, max_length=64)


class CallerResponse(ResponseModel):
    """The caller's identity (protocol-login)."""

    username: str
    role: Literal["admin", "user"]
    must_change_password: bool
    multi_user: bool
    signed_in: bool = Field(description="False if the service has no password")
    can_set_password: bool = Field(
        description="True if this caller may set the service's first password"
    )


class LoginResponse(CallerResponse):
    """Identity of the user who signed in, and the key that belongs to the cookie. C{key} is null if
    no sign-in is required.
    """

    key: str | None


class RevokedSessionsResponse(ResponseModel):
    """Number of sessions that ended."""

    revoked: int


class FirstPasswordBody(RequestBody):
    """First password of a service that has none."""

    password: str = Field(max_length=LONGEST_PASSWORD)


_SIGNING_OUT = OperationFields(
    tag="Access",
    scope_reason=CHANGES_SIGN_IN,
    ends_access=True,
)


class AccessRoutes:
    """Routes C{/api/login}, C{/api/logout}, C{/api/me} and those below C{/api/auth}."""

    def __init__(
        self,
        cookies: CookieSessionRegistry,
        passwords: PasswordChecker | None,
        username: str,
        multiuser: bool,
        revoked: Callable[[], None] = lambda: None,
        setup: PasswordSetup | None = None,
    ) -> None:
        """@param passwords: checks passwords.  C{None} if no password is required.
        @param username: the user name of every caller if no password is required.
        @param revoked: called when a user's access was revoked, to invalidate displayed sign-in
            codes too.
        @param setup: sets the first password.  C{None} if the service started with one.
        """
        self._setup = setup
        self._revoked = revoked
        self._cookies, self._passwords = cookies, passwords
        self._username, self._multiuser = username, multiuser

    @operation(
        "POST",
        "/api/login",
        tag="Access",
        access=AccessRule.PUBLIC,
        scope_reason="A password gives a cookie. Tokens are not used to sign in.",
        response_model=LoginResponse,
        optional_body=True,
        audit=AuditMode.NONE,  # the opened session or the failure is recorded
        errors=(ErrorCode.UNAUTHORIZED,),
    )
    async def sign_in(self, call: OperationCall, body: LoginBody) -> LoginResponse | RawReply:
        """Sign in; sets the session cookie, and returns the key that belongs to it.

        @raise HttpRefusal: bare 401 for a wrong password, 429 over the failure limit.
        """
        if self._passwords is None or not self._has_password:
            everybody = self._caller_response(call, Identity(username=self._username, admin=True))
            return LoginResponse(**everybody.model_dump(), key=None)
        method, username, password = _find_credentials(call, body)
        if method == "basic" and not may_admit_page(
            self._cookies, _authentication_request(call), username
        ):
            raise make_unauthorized_refusal(challenge=False)
        try:
            identity = await self._passwords.check_password(username, password, call.address)
        except TooManySignIns as error:
            raise make_lockout_refusal(error.seconds) from None
        if identity is None:
            raise make_unauthorized_refusal(challenge=False)
        return self._open_session(call, identity, method)

    @operation(
        "POST",
        "/api/auth/password",
        tag="Access",
        access=AccessRule.ADMIN,
        scope_reason=CHANGES_SIGN_IN,
        response_model=LoginResponse,
        ends_access=True,  # that of everybody who is not signed in
        errors=(
            ErrorCode.FORBIDDEN,
            ErrorCode.CONFLICT,
            ErrorCode.OPERATION_FAILED,
            ErrorCode.RATE_LIMITED,
        ),
    )
    async def set_first_password(self, call: OperationCall, body: FirstPasswordBody) -> RawReply:
        """Set the first password, and sign in; only from a browser on the service's machine.

        @raise HttpRefusal: 429 if too many passwords wait to be hashed.
        """
        if self._setup is None:
            raise make_conflict_error("The service has a password already: sign in")
        try:
            await self._setup.set_password(
                body.password,
                address=call.address,
                is_local=is_from_this_machine(_authentication_request(call)),
                caller=call.caller,
            )
        except TooManyChecks:
            raise make_lockout_refusal(BUSY_SECONDS) from None
        return self._open_session(call, Identity(username=self._username, admin=True), "login")

    @operation(
        "POST", "/api/logout", _SIGNING_OUT, access=AccessRule.USER, response_model=EmptyPayload
    )
    async def sign_out(self, call: OperationCall) -> RawReply:
        """Sign out; ends the session and clears its cookie."""
        mine = call.caller.auth_session
        if mine is not None:
            self._cookies.revoke_sessions(lambda session: session.id == mine)
        return RawReply(
            content=EmptyPayload(),
            headers={"Set-Cookie": format_cleared_cookie(_authentication_request(call))},
        )

    @operation(
        "POST",
        "/api/auth/revoke",
        _SIGNING_OUT,
        access=AccessRule.ADMIN,
        response_model=RevokedSessionsResponse,
        optional_body=True,
        errors=(ErrorCode.NOT_FOUND,),
    )
    async def revoke_sessions(self, call: OperationCall, body: RevokeBody) -> RawReply:
        """End one signed-in session, or all of them."""
        wanted = body.session_id
        ended = self._cookies.revoke_sessions(lambda session: wanted in (None, session.id))
        if wanted is not None and not ended:
            raise make_not_found_error(f"Auth session {wanted}")
        self._revoked()
        headers = {}
        if wanted in (None, call.caller.auth_session):
            headers["Set-Cookie"] = format_cleared_cookie(_authentication_request(call))
        return RawReply(content=RevokedSessionsResponse(revoked=ended), headers=headers)

    @operation(
        "GET",
        "/api/me",
        tag="Access",
        access=AccessRule.USER,
        scope_reason="A program already knows the owner of its token.",
    )
    async def get_caller(self, call: OperationCall) -> CallerResponse:
        """Get your identity."""
        return self._caller_response(call, call.caller)

    @property
    def _has_password(self) -> bool:
        return self._setup is None or self._setup.rule.is_required

    def _open_session(self, call: OperationCall, identity: Identity, method: str) -> RawReply:
        agent = call.get_header("user-agent") or ""
        opened = self._cookies.open_session(identity.username, method, call.address, agent)
        answer = LoginResponse(**self._caller_response(call, identity).model_dump(), key=opened.key)
        cookie = format_session_cookie(opened.token, _authentication_request(call))
        return RawReply(content=answer, headers={"Set-Cookie": cookie})

    def _caller_response(self, call: OperationCall, identity: Identity) -> CallerResponse:
        setup, local = self._setup, is_from_this_machine(_authentication_request(call))
        return CallerResponse(
            username=identity.username,
            role="admin" if identity.admin else "user",
            must_change_password=identity.must_change_password,
            multi_user=self._multiuser,
            signed_in=self._passwords is not None and self._has_password,
            can_set_password=setup is not None and setup.find_obstacle(local) is None,
        )


def _find_credentials(call: OperationCall, body: LoginBody) -> tuple[str, str, str]:
    """Return the sign-in method, the user name and the password of a call.

    @raise ServiceError: 400 naming the missing field.
    """
    for name, value in (("username", body.username), ("password", body.password)):
        if value is None and cast(ServiceRequest, call.request).received_bytes:
            raise make_field_error(name, "is required")
    if body.username is not None and body.password is not None:
        return "login", body.username, body.password
    basic = parse_basic_header(call.get_header("authorization") or "")
    if basic is None:
        raise make_field_error("body", "is required")
    return "basic", *basic


def _authentication_request(call: OperationCall) -> AuthenticationRequest:
    return cast(ServiceRequest, call.request).visit
