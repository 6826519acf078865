"""The HTTP API from Python (protocol-versioning)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import treq

from tservice.client.errors import ApiError, unwrap

__all__ = ["ApiError", "Client", "Transport", "Treq", "unwrap"]


class Transport(Protocol):
    """What is used of treq."""

    async def request(self, method: str, url: str, **options: Any) -> Any: ...
    async def content(self, response: Any) -> bytes: ...


class Treq:
    """treq as it is, with redirects off: a token must not follow one."""

    async def request(self, method: str, url: str, **options: Any) -> Any:
        """Send a request."""
        return await treq.request(method, url, allow_redirects=False, **options)

    async def content(self, response: Any) -> bytes:
        """The whole body."""
        found: bytes = await treq.content(response)
        return found


class Client:
    """One service, as somebody.

    >>> client = Client("http://127.0.0.1:8770", token="tsk_...")
    >>> session = await client.create(mode="shell", start=True)
    >>> await client.send(session["id"], "make test", wait="stop")
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        login: tuple[str, str] | None = None,
        transport: Transport | None = None,
        timeout: float = 60.0,
    ) -> None:
        """
        @param url: without a path, but for the base path of a reverse proxy.
        @param token: a scoped token; better than a login.
        @param login: user name and password.
        @param timeout: seconds for an answer to begin, the wait that was asked for aside.
        """
        self._url = url.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._login, self._timeout = login, timeout
        self._transport = transport or Treq()

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, object] | None = None,
        wait_ms: int = 0,
    ) -> Any:
        """The payload of one request.

        @param path: from C{/api/v1} on, C{/sessions} for example; the first slash may be left out.
        @raise ApiError: anything but a success.
        """
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self._url}/api/v1/{path.removeprefix('/')}" + (
            f"?{urlencode(given)}" if given else ""
        )
        options: dict[str, Any] = {"headers": dict(self._headers)}
        if body is not None:
            options["data"] = json.dumps(body).encode()
            options["headers"]["Content-Type"] = "application/json"
        if self._login is not None:
            options["auth"] = self._login
        options["timeout"] = self._timeout + wait_ms / 1000
        response = await self._transport.request(method, url, **options)
        return unwrap(response.code, await self._transport.content(response))

    async def sessions(self) -> Sequence[dict[str, Any]]:
        """Every session that the caller may see."""
        found: Sequence[dict[str, Any]] = await self.call("GET", "/sessions")
        return found

    async def create(self, **fields: object) -> dict[str, Any]:
        """A new session; C{fields} as the body has them."""
        found = await self.call("POST", "/sessions", fields)
        session: dict[str, Any] = found["session"]
        return session

    async def send(
        self,
        session_id: str,
        text: str,
        *,
        wait: str | None = None,
        timeout_ms: int = 60_000,
        client_id: str | None = None,
        seq: int | None = None,
    ) -> dict[str, Any]:
        """Type a prompt, and with C{wait} also wait for one of these signals.

        @param client_id: with C{seq}: the same pair twice is typed once, so that a request may
            be sent again when its answer was lost.
        """
        body: dict[str, object] = {"input": text, "useMux": True}
        if wait is not None:
            body |= {"wait": wait, "waitTimeout": timeout_ms}
        if client_id is not None:
            body |= {"clientId": client_id, "seq": seq}
        path = f"/sessions/{quote(session_id, safe='')}/input"
        wait_ms = 0 if wait is None else timeout_ms
        found: dict[str, Any] = await self.call("POST", path, body, wait_ms=wait_ms)
        return found

    async def terminal(self, session_id: str, *, full: bool = False) -> dict[str, Any]:
        """The screen, or the history too."""
        path = f"/sessions/{quote(session_id, safe='')}/terminal"
        query = {"full": 1} if full else None
        found: dict[str, Any] = await self.call("GET", path, query=query)
        return found

    async def delete(self, session_id: str) -> None:
        """End and remove a session."""
        await self.call("DELETE", f"/sessions/{quote(session_id, safe='')}")
