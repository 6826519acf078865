"""Access: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from tservice.client.calling import Calling


class AuthSessionAnswer(TypedDict):
    """Somebody who is signed in; C{id} is not the cookie, C{current} is the caller's own."""

    id: str
    username: str
    ip: str
    ua: str
    createdAt: int
    method: str
    current: NotRequired[bool]


class TunnelAnswer(TypedDict):
    """The tunnel; C{url} is null while it is being started."""

    running: bool
    url: str | None


class TunnelStatusAnswer(TypedDict):
    """The tunnel, and who can see what comes through it."""

    running: bool
    url: str | None
    sseClients: int
    authSessions: list[AuthSessionAnswer]


class Access(Calling):
    """Access."""

    async def post_tunnel_start(self) -> TunnelAnswer:
        """Start the tunnel, and wait for its address."""
        found: TunnelAnswer = await self.call("POST", "/tunnel/start")
        return found

    async def post_tunnel_stop(self) -> TunnelAnswer:
        """Stop the tunnel."""
        found: TunnelAnswer = await self.call("POST", "/tunnel/stop")
        return found

    async def get_tunnel_status(self) -> TunnelStatusAnswer:
        """The tunnel, and who is signed in."""
        found: TunnelStatusAnswer = await self.call("GET", "/tunnel/status")
        return found
