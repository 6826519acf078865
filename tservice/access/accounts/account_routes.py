"""Routes C{/api/admin/users} and C{/api/me/password} (protocol-users)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

from pydantic import Field

from tservice.access.accounts.account import LONGEST_PASSWORD, AccountRole, UserAccount
from tservice.access.accounts.accounts import AccountChange, AccountService
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.model import format_session_cookie
from tservice.access.passwords.failures import TooManySignIns, get_failure_count_address
from tservice.access.passwords.hashing import BUSY_SECONDS, TooManyChecks
from tservice.access.passwords.sign_in import PasswordChecker
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import CHANGES_SIGN_IN, READS_SERVICE_STATE
from tservice.core.values.payload import omit_if_none
from tservice.http.gate import make_lockout_refusal
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall, RawReply, Scope
from tservice.http.validation.models import RequestBody, ResponseModel

P = ParamSpec("P")
T = TypeVar("T")

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


def answer_busy_with_429(handler: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Wrap a handler so that it answers 429 if too many password checks are waiting."""

    @wraps(handler)
    async def handle_call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await handler(*args, **kwargs)
        except TooManySignIns as error:
            raise make_lockout_refusal(error.seconds) from None
        except TooManyChecks:
            raise make_lockout_refusal(BUSY_SECONDS) from None

    return handle_call


_HASHING = (ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED)
_ACCOUNTS = OperationFields(
    tag="Users",
    access=AccessRule.ADMIN,
    scope_reason=(
        "An account that a token created or changed would outlive the token, and have more rights."
    ),
)
_SIGN_IN = OperationFields(
    tag="Users",
    access=AccessRule.ADMIN,
    scope_reason=CHANGES_SIGN_IN,
    ends_access=True,  # the account may be the caller's own
    errors=(ErrorCode.USER_NOT_FOUND,),
)


class AccountRoutes:
    """Routes to manage accounts, and to change the caller's own password."""

    def __init__(
        self, accounts: AccountService, cookies: CookieSessionRegistry, passwords: PasswordChecker
    ) -> None:
        self._accounts, self._cookies, self._passwords = accounts, cookies, passwords

    @operation(
        "GET",
        "/api/admin/users",
        tag="Users",
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        scope_reason=READS_SERVICE_STATE,
    )
    async def list_accounts(self, call: OperationCall) -> UserListResponse:
        """List all users."""
        return UserListResponse(
            users=[make_user_response(account) for account in self._accounts.list_accounts()]
        )

    @operation("POST", "/api/admin/users", _ACCOUNTS, errors=(ErrorCode.USER_EXISTS, *_HASHING))
    @answer_busy_with_429
    async def create_account(self, call: OperationCall, body: NewUserBody) -> NewUserResponse:
        """Create a user."""
        account, once = await self._accounts.create_account(
            body.username,
            AccountRole(body.role or AccountRole.USER),
            body.password,
            can_bypass_permissions=bool(body.can_bypass_permissions),
            os_user=body.os_user,
            caller=call.caller,
        )
        return NewUserResponse(user=make_user_response(account), one_time_password=once)

    @operation(
        "PATCH",
        "/api/admin/users/{name}",
        _ACCOUNTS,
        ends_access=True,
        errors=(ErrorCode.USER_NOT_FOUND, ErrorCode.LAST_ADMIN, *_HASHING),
    )
    @answer_busy_with_429
    async def change_account(self, call: OperationCall, body: UserPatch) -> UserEnvelope:
        """Change a user; ends that user's signed-in sessions."""
        wanted = AccountChange(
            role=None if body.role is None else AccountRole(body.role),
            password=body.password,
            can_bypass_permissions=body.can_bypass_permissions,
            enabled=body.enabled,
            os_user=body.os_user or ("" if "os_user" in body.model_fields_set else None),
        )
        account = await self._accounts.change_account(call.path["name"], wanted, call.caller)
        return UserEnvelope(user=make_user_response(account))

    @operation(
        "DELETE",
        "/api/admin/users/{name}",
        _ACCOUNTS,
        ends_access=True,
        errors=(ErrorCode.USER_NOT_FOUND, ErrorCode.LAST_ADMIN),
    )
    @answer_busy_with_429
    async def remove_account(self, call: OperationCall) -> EmptyPayload:
        """Remove a user; the user's sessions stay."""
        self._accounts.remove_account(call.path["name"])
        return EmptyPayload()

    @operation("POST", "/api/admin/users/{name}/reset-password", _SIGN_IN, errors=_HASHING)
    @answer_busy_with_429
    async def reset_password(self, call: OperationCall) -> OneTimePasswordResponse:
        """Give a user a one-time password, shown once."""
        once = await self._accounts.reset_password(call.path["name"], call.caller)
        return OneTimePasswordResponse(one_time_password=once)

    @operation(
        "POST",
        "/api/admin/users/{name}/logout",
        _SIGN_IN,
        optional_body=True,
        errors=(ErrorCode.OPERATION_FAILED,),
    )
    @answer_busy_with_429
    async def log_out(self, call: OperationCall, body: LogOutBody) -> LoggedOutResponse:
        """Sign a user out everywhere; the user's tokens remain valid unless requested."""
        revoked, tokens = self._accounts.end_account_access(call.path["name"], body.tokens)
        return LoggedOutResponse(revoked=revoked, tokens=tokens)

    @operation(
        "PUT",
        "/api/me/password",
        tag="Access",
        access=AccessRule.USER,
        scope_reason=CHANGES_SIGN_IN,
        response_model=PageKeyResponse,
        ends_access=True,
        errors=(ErrorCode.FORBIDDEN,),
    )
    @answer_busy_with_429
    async def set_own_password(self, call: OperationCall, body: PasswordBody) -> RawReply:
        """Change your password; ends all your other signed-in sessions."""
        name = call.caller.username
        found = await self._passwords.check_password(name, body.current_password, call.address)
        if found is None:
            raise ServiceError(ErrorCode.FORBIDDEN, "currentPassword: is wrong")
        place = get_failure_count_address(call.address)
        await self._accounts.set_own_password(
            name, body.current_password, body.new_password, place, call.caller
        )
        request: Any = call.request
        agent = call.get_header("user-agent") or ""
        opened = self._cookies.open_session(name, "login", call.address, agent)
        cookie = format_session_cookie(opened.token, request.visit)
        request.responseHeaders.removeHeader("Set-Cookie")
        return RawReply(content=PageKeyResponse(key=opened.key), headers={"Set-Cookie": cookie})


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
