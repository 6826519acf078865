"""Routes C{/api/admin/users} and C{/api/me/password} (protocol-users)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Literal

from pydantic import Field

from tservice.access.account import LONGEST_PASSWORD, AccountRole, UserAccount
from tservice.access.accounts import AccountChange, AccountService
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.failures import TooManySignIns, get_counted_address
from tservice.access.hashing import BUSY_SECONDS, TooManyChecks
from tservice.access.model import format_session_cookie
from tservice.access.sign_in import PasswordChecker
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.event_payloads import EmptyPayload
from tservice.core.payload import omit_if_none
from tservice.http.gate import make_lockout_refusal
from tservice.http.models import RequestBody, ResponseModel
from tservice.http.operations import AccessRule, Handler, Operation, OperationCall, RawReply, Scope

RoleName = Literal["admin", "user"]


class UserBody(RequestBody):
    """Fields that may be set on any account."""

    role: RoleName | None = None
    password: str | None = Field(None, max_length=LONGEST_PASSWORD)
    can_bypass_permissions: bool | None = None
    os_user: str | None = Field(
        None,
        max_length=64,
        description="OS user that the panes run as; empty or null: the service's",
    )


class NewUserBody(UserBody):
    """New account. Without a password it gets a one-time password."""

    username: str = Field(max_length=64)


class UserPatch(UserBody):
    """Changes to an account."""

    enabled: bool | None = None


class PasswordBody(RequestBody):
    """New password of the caller."""

    current_password: str = Field(max_length=LONGEST_PASSWORD)
    new_password: str = Field(max_length=LONGEST_PASSWORD)


class LogOutBody(RequestBody):
    """Further access to end with a sign-out. Without a body only signed-in sessions end."""

    tokens: bool = Field(False, description="Also revoke the account's tokens")


class PageKeyResponse(ResponseModel):
    """Key that belongs to the cookie of the caller's new session."""

    key: str | None


class UserResponse(ResponseModel):
    """Account. No form of its password is included."""

    username: str
    role: RoleName
    enabled: bool
    can_bypass_permissions: bool
    must_change_password: bool
    created_at: int
    os_user: str | None = None


class UserEnvelope(ResponseModel):
    """Response with an account."""

    user: UserResponse


class UserListResponse(ResponseModel):
    """List of every account, oldest first."""

    users: list[UserResponse]


class NewUserResponse(UserEnvelope):
    """New account. Its one-time password is shown only in this response."""

    one_time_password: str | None = omit_if_none()


class OneTimePasswordResponse(ResponseModel):
    """One-time password. It is shown only once and must be changed at the next sign-in."""

    one_time_password: str


class LoggedOutResponse(ResponseModel):
    """Number of signed-in sessions that ended, and number of the account's tokens that remain
    valid.
    """

    revoked: int
    tokens: int


def answer_busy_with_429(handler: Handler) -> Handler:
    """Wrap a handler so that it answers 429 if too many password checks are waiting."""

    @wraps(handler)
    async def handle_call(call: OperationCall) -> object:
        try:
            return await handler(call)
        except TooManySignIns as error:
            raise make_lockout_refusal(error.seconds) from None
        except TooManyChecks:
            raise make_lockout_refusal(BUSY_SECONDS) from None

    return handle_call


class AccountRoutes:
    """Routes to manage accounts, and to change the caller's own password."""

    def __init__(
        self, accounts: AccountService, cookies: CookieSessionRegistry, passwords: PasswordChecker
    ) -> None:
        self._accounts, self._cookies, self._passwords = accounts, cookies, passwords

    async def list_accounts(self, call: OperationCall) -> object:
        """Return every account."""
        return UserListResponse(
            users=[make_user_response(account) for account in self._accounts.list_accounts()]
        )

    async def create_account(self, call: OperationCall) -> object:
        """Create an account."""
        body: NewUserBody = call.body
        account, once = await self._accounts.create_account(
            body.username,
            AccountRole(body.role or AccountRole.USER),
            body.password,
            can_bypass_permissions=bool(body.can_bypass_permissions),
            os_user=body.os_user,
            reauthorize=call.reauthorize,
        )
        return NewUserResponse(user=make_user_response(account), one_time_password=once)

    async def change_account(self, call: OperationCall) -> object:
        """Change an account."""
        body: UserPatch = call.body
        wanted = AccountChange(
            role=None if body.role is None else AccountRole(body.role),
            password=body.password,
            can_bypass_permissions=body.can_bypass_permissions,
            enabled=body.enabled,
            os_user=body.os_user or ("" if "os_user" in body.model_fields_set else None),
        )
        account = await self._accounts.change_account(call.path["name"], wanted, call.reauthorize)
        return UserEnvelope(user=make_user_response(account))

    async def remove_account(self, call: OperationCall) -> object:
        """Remove an account."""
        self._accounts.remove_account(call.path["name"])
        return EmptyPayload()

    async def reset_password(self, call: OperationCall) -> object:
        """Set a one-time password for an account."""
        once = await self._accounts.reset_password(call.path["name"], call.reauthorize)
        return OneTimePasswordResponse(one_time_password=once)

    async def log_out(self, call: OperationCall) -> object:
        """End every session and stream of an account, and on request its tokens."""
        revoked, tokens = self._accounts.end_account_access(call.path["name"], call.body.tokens)
        return LoggedOutResponse(revoked=revoked, tokens=tokens)

    async def set_own_password(self, call: OperationCall) -> object:
        """Change the caller's password, and end every other session of the caller."""
        body: PasswordBody = call.body
        name = call.identity.username
        found = await self._passwords.check_password(name, body.current_password, call.address)
        if found is None:
            raise ServiceError(ErrorCode.FORBIDDEN, "currentPassword: is wrong")
        place = get_counted_address(call.address)
        await self._accounts.set_own_password(
            name, body.current_password, body.new_password, place, call.reauthorize
        )
        request: Any = call.request
        agent = call.get_header("user-agent") or ""
        opened = self._cookies.open_session(name, "login", call.address, agent)
        cookie = format_session_cookie(opened.token, request.visit)
        request.responseHeaders.removeHeader("Set-Cookie")
        return RawReply(content=PageKeyResponse(key=opened.key), headers={"Set-Cookie": cookie})

    def list_operations(self) -> list[Operation]:
        """Return the routes for the operations table."""
        one = "/api/admin/users/{name}"
        return [
            _read_operation("/api/admin/users", self.list_accounts, "List all users",
                            UserListResponse),
            _admin_operation("POST", "/api/admin/users", self.create_account, "Create a user",
                             NewUserBody,
                   NewUserResponse, (ErrorCode.USER_EXISTS, *_HASHING)),
            _admin_operation("PATCH", one, self.change_account,
                "Change a user; ends that user's signed-in sessions", UserPatch,
                   UserEnvelope, (*_ONE, ErrorCode.LAST_ADMIN, *_HASHING)),
            _admin_operation("DELETE", one, self.remove_account,
                             "Remove a user; the user's sessions stay",
                   response_model=EmptyPayload, errors=(*_ONE, ErrorCode.LAST_ADMIN)),
            _admin_operation("POST", f"{one}/reset-password", self.reset_password,
                   "Give a user a one-time password, shown once",
                   response_model=OneTimePasswordResponse,
                   errors=(*_ONE, *_HASHING)),
            _admin_operation("POST", f"{one}/logout", self.log_out,
                   "Sign a user out everywhere; the user's tokens remain valid unless requested",
                   LogOutBody, LoggedOutResponse, (*_ONE, ErrorCode.OPERATION_FAILED),
                   optional_body=True),
            Operation(
                method="PUT",
                path="/api/me/password",
                access=AccessRule.USER,
                handler=answer_busy_with_429(self.set_own_password),
                summary="Change your password; ends all your other signed-in sessions",
                tag="Access",
                body=PasswordBody,
                ends_access=True,
                response_model=PageKeyResponse,
                errors=(ErrorCode.FORBIDDEN,),
            ),
        ]  # fmt: skip


_ONE = (ErrorCode.USER_NOT_FOUND,)
_HASHING = (ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED)


def _read_operation(path: str, handler: Handler, summary: str, response_model: Any) -> Operation:
    return Operation(
        method="GET",
        path=path,
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        handler=handler,
        summary=summary,
        tag="Users",
        response_model=response_model,
    )


def _admin_operation(
    method: str,
    path: str,
    handler: Callable[[OperationCall], Awaitable[object]],
    summary: str,
    body: type[RequestBody] | None = None,
    response_model: Any = None,
    errors: tuple[ErrorCode, ...] = (),
    optional_body: bool = False,
) -> Operation:
    return Operation(
        method=method,
        path=path,
        access=AccessRule.ADMIN,
        handler=answer_busy_with_429(handler),
        summary=summary,
        tag="Users",
        ends_access="{name}" in path,  # the account may be the caller's own
        body=body,
        optional_body=optional_body,
        response_model=response_model,
        errors=errors,
    )


def make_user_response(account: UserAccount) -> UserResponse:
    """Return an account as clients see it."""
    return UserResponse(
        username=account.username,
        role="admin" if account.role is AccountRole.ADMIN else "user",
        enabled=account.enabled,
        can_bypass_permissions=account.make_identity().can_bypass_permissions,
        must_change_password=account.must_change_password,
        created_at=account.created_at,
        os_user=account.os_user,
    )
