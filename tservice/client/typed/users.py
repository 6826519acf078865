"""Users: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class UserAnswer(TypedDict):
    """An account, without its password in any form."""

    username: str
    role: Literal["admin", "user"]
    enabled: bool
    canBypassPermissions: bool
    mustChangePassword: bool
    createdAt: int
    osUser: NotRequired[str | None]


class UsersAnswer(TypedDict):
    """Every account, the oldest first."""

    users: list[UserAnswer]


class Users(Calling):
    """Users."""

    async def get_admin_users(self) -> UsersAnswer:
        """Every user."""
        found: UsersAnswer = await self.call("GET", "/admin/users")
        return found
