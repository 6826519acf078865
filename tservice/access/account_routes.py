"""C{/api/admin/users} and C{/api/me/password} (protocol-users)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Literal

from pydantic import Field

from tservice.access.account import LONGEST_PASSWORD, Account, Role
from tservice.access.accounts import Accounts, Change
from tservice.access.cookies import CookieSessions
from tservice.access.failures import TooManySignIns, neighbourhood
from tservice.access.hashing import BUSY_SECONDS, Crowded
from tservice.access.model import set_cookie
from tservice.access.signin import PasswordChecker
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.event_payloads import EmptyPayload
from tservice.core.payload import omit_if_none
from tservice.http.gate import too_many_refusal
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
    """A new account; without a password it gets a one-time password."""

    username: str = Field(max_length=64)


class UserPatch(UserBody):
    """Changes of an account."""

    enabled: bool | None = None


class PasswordBody(RequestBody):
    """A user's own new password."""

    current_password: str = Field(max_length=LONGEST_PASSWORD)
    new_password: str = Field(max_length=LONGEST_PASSWORD)


class LogOutBody(RequestBody):
    """What ends beside what is open; without a body nothing else."""

    tokens: bool = Field(False, description="end the account's tokens too")


class PageKeyAnswer(ResponseModel):
    """What goes with the cookie of the caller's new session."""

    key: str | None


class UserAnswer(ResponseModel):
    """An account, without its password in any form."""

    username: str
    role: RoleName
    enabled: bool
    can_bypass_permissions: bool
    must_change_password: bool
    created_at: int
    os_user: str | None = None


class OneUser(ResponseModel):
    """One account."""

    user: UserAnswer


class UsersAnswer(ResponseModel):
    """Every account, the oldest first."""

    users: list[UserAnswer]


class NewUserAnswer(OneUser):
    """A new account; its one-time password is shown this once."""

    one_time_password: str | None = omit_if_none()


class OneTimeAnswer(ResponseModel):
    """A password that is shown once, and must be changed at the next sign-in."""

    one_time_password: str


class LoggedOutAnswer(ResponseModel):
    """How many signed-in sessions ended, and how many tokens of the account live on."""

    revoked: int
    tokens: int


def unhurried(handler: Handler) -> Handler:
    """Wrap a handler to answer 429 if a password was not checked."""

    @wraps(handler)
    async def answer(call: OperationCall) -> object:
        try:
            return await handler(call)
        except TooManySignIns as error:
            raise too_many_refusal(error.seconds) from None
        except Crowded:
            raise too_many_refusal(BUSY_SECONDS) from None

    return answer


class AccountRoutes:
    """Routes to manage accounts, and to change the caller's password."""

    def __init__(
        self, accounts: Accounts, cookies: CookieSessions, passwords: PasswordChecker
    ) -> None:
        self._accounts, self._cookies, self._passwords = accounts, cookies, passwords

    async def read(self, call: OperationCall) -> object:
        """Return every account."""
        return UsersAnswer(users=[user_answer(account) for account in self._accounts.list()])

    async def create(self, call: OperationCall) -> object:
        """Create an account."""
        body: NewUserBody = call.body
        account, once = await self._accounts.create(
            body.username,
            Role(body.role or Role.USER),
            body.password,
            can_bypass_permissions=bool(body.can_bypass_permissions),
            os_user=body.os_user,
            again=call.reauthorize,
        )
        return NewUserAnswer(user=user_answer(account), one_time_password=once)

    async def change(self, call: OperationCall) -> object:
        """Change an account."""
        body: UserPatch = call.body
        wanted = Change(
            role=None if body.role is None else Role(body.role),
            password=body.password,
            can_bypass_permissions=body.can_bypass_permissions,
            enabled=body.enabled,
            os_user=body.os_user or ("" if "os_user" in body.model_fields_set else None),
        )
        account = await self._accounts.change(call.path["name"], wanted, call.reauthorize)
        return OneUser(user=user_answer(account))

    async def remove(self, call: OperationCall) -> object:
        """Remove an account."""
        self._accounts.remove(call.path["name"])
        return EmptyPayload()

    async def reset(self, call: OperationCall) -> object:
        """Give an account a one-time password."""
        once = await self._accounts.reset_password(call.path["name"], call.reauthorize)
        return OneTimeAnswer(one_time_password=once)

    async def log_out(self, call: OperationCall) -> object:
        """End every session and stream of an account, and its tokens only on request."""
        revoked, tokens = self._accounts.log_out(call.path["name"], call.body.tokens)
        return LoggedOutAnswer(revoked=revoked, tokens=tokens)

    async def set_own(self, call: OperationCall) -> object:
        """Change the caller's password; every other session of the caller ends."""
        body: PasswordBody = call.body
        name = call.identity.username
        found = await self._passwords.check(name, body.current_password, call.address)
        if found is None:
            raise ServiceError(ErrorCode.FORBIDDEN, "currentPassword: is wrong")
        place = neighbourhood(call.address)
        await self._accounts.set_own_password(
            name, body.current_password, body.new_password, place, call.reauthorize
        )
        request: Any = call.request
        agent = call.get_header("user-agent") or ""
        opened = self._cookies.open(name, "login", call.address, agent)
        cookie = set_cookie(opened.token, request.visit)
        request.responseHeaders.removeHeader("Set-Cookie")
        return RawReply(content=PageKeyAnswer(key=opened.key), headers={"Set-Cookie": cookie})

    def operations(self) -> list[Operation]:
        """Return the routes for the table."""
        one = "/api/admin/users/{name}"
        return [
            _read("/api/admin/users", self.read, "Every user", UsersAnswer),
            _admin("POST", "/api/admin/users", self.create, "A new user", NewUserBody,
                   NewUserAnswer, (ErrorCode.USER_EXISTS, *_HASHING)),
            _admin("PATCH", one, self.change, "Change a user; signs that user out", UserPatch,
                   OneUser, (*_ONE, ErrorCode.LAST_ADMIN, *_HASHING)),
            _admin("DELETE", one, self.remove, "Remove a user; the user's sessions stay",
                   answer=EmptyPayload, errors=(*_ONE, ErrorCode.LAST_ADMIN)),
            _admin("POST", f"{one}/reset-password", self.reset,
                   "Give a user a one-time password, shown once", answer=OneTimeAnswer,
                   errors=(*_ONE, *_HASHING)),
            _admin("POST", f"{one}/logout", self.log_out,
                   "Sign a user out everywhere; the user's tokens live on unless told",
                   LogOutBody, LoggedOutAnswer, (*_ONE, ErrorCode.OPERATION_FAILED),
                   optional_body=True),
            Operation(
                method="PUT",
                path="/api/me/password",
                access=AccessRule.USER,
                handler=unhurried(self.set_own),
                summary="Change one's own password; ends every other session of one's own",
                tag="Access",
                body=PasswordBody,
                ends_access=True,
                response_model=PageKeyAnswer,
                errors=(ErrorCode.FORBIDDEN,),
            ),
        ]  # fmt: skip


_ONE = (ErrorCode.USER_NOT_FOUND,)
_HASHING = (ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED, ErrorCode.RATE_LIMITED)


def _read(path: str, handler: Handler, summary: str, answer: Any) -> Operation:
    return Operation(
        method="GET",
        path=path,
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        handler=handler,
        summary=summary,
        tag="Users",
        response_model=answer,
    )


def _admin(
    method: str,
    path: str,
    handler: Callable[[OperationCall], Awaitable[object]],
    summary: str,
    body: type[RequestBody] | None = None,
    answer: Any = None,
    errors: tuple[ErrorCode, ...] = (),
    optional_body: bool = False,
) -> Operation:
    return Operation(
        method=method,
        path=path,
        access=AccessRule.ADMIN,
        handler=unhurried(handler),
        summary=summary,
        tag="Users",
        ends_access="{name}" in path,  # the account may be the caller's own
        body=body,
        optional_body=optional_body,
        response_model=answer,
        errors=errors,
    )


def user_answer(account: Account) -> UserAnswer:
    """Return an account as clients see it."""
    return UserAnswer(
        username=account.username,
        role="admin" if account.role is Role.ADMIN else "user",
        enabled=account.enabled,
        can_bypass_permissions=account.identity().can_bypass_permissions,
        must_change_password=account.must_change_password,
        created_at=account.created_at,
        os_user=account.os_user,
    )
