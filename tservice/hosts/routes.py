"""Routes of C{/api/remote-hosts}, C{/api/sessions/{id}/reachability} and C{wake}
(protocol-remote).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from tservice.core.errors import ErrorCode, invalid_field
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.core.places.location import LocationId, LocationKind
from tservice.core.scopes import Scope
from tservice.hosts.links import Link
from tservice.hosts.model import MOST_COMMANDS, MOST_OPTIONS, OPTION_LENGTH, RemoteHost
from tservice.hosts.service import HostService
from tservice.hosts.shown import (
    HostChecked,
    OneRemoteHost,
    Reachability,
    RemoteHostAnswer,
    TmuxSession,
    TmuxSessions,
    Woken,
    checked_answer,
    host_answer,
)
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Operation, OperationCall

_Line = Annotated[str, StringConstraints(max_length=2000)]
_Option = Annotated[str, StringConstraints(max_length=OPTION_LENGTH)]


class RemoteHostBody(RequestBody):
    """A machine; everything but its label, host and username has a default."""

    label: _Line
    host: _Line
    username: _Line
    port: int = 22
    identity_file: _Line | None = None
    jump_host: _Line | None = Field(default=None, description="As ssh's ProxyJump")
    extra_ssh_options: Annotated[list[_Option], Field(max_length=MOST_OPTIONS), FAIL_FAST] = []
    commands: Annotated[dict[_Line, _Line], Field(max_length=MOST_COMMANDS)] = {}
    wake_mac: _Line | None = None
    wake_command: _Line | None = None

    def record(self) -> RemoteHost:
        """Return an unvalidated record."""
        given = self.model_dump()
        given["extra_ssh_options"] = tuple(given["extra_ssh_options"])
        return RemoteHost(id="", **given)


class TrustBody(RequestBody):
    """The key that was compared with the host's own, as C{SHA256:...}."""

    fingerprint: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class HostRoutes:
    """Routes of remote hosts; the rules are in L{HostService}."""

    def __init__(self, hosts: HostService, place_of: Callable[[str], LocationId]) -> None:
        """Create the routes.

        @param place_of: returns the location of a session id.
        """
        self._hosts = hosts
        self._place_of = place_of

    def operations(self) -> list[Operation]:
        """Return the operations of the routes."""
        return [*self._of_hosts(), *self._of_sessions()]

    def _of_hosts(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/remote-hosts",
                access=AccessRule.USER,
                scope=Scope.ADMIN,
                handler=self.list,
                summary="The remote hosts; none for anybody but an admin",
                tag="Remote hosts",
                response_model=list[RemoteHostAnswer],
            ),
            _write("POST", "", self.add, "Keep a remote host", OneRemoteHost, RemoteHostBody,
                   ErrorCode.ALREADY_EXISTS),
            _write("PUT", "/{id}", self.change, "Replace a remote host", OneRemoteHost,
                   RemoteHostBody, ErrorCode.NOT_FOUND, ErrorCode.ALREADY_EXISTS),
            _write("DELETE", "/{id}", self.remove, "Forget a remote host that nothing is on",
                   EmptyPayload, None, ErrorCode.NOT_FOUND),
            _write("POST", "/{id}/check", self.check,
                   "Look whether a remote host can be used, and which key it shows", HostChecked,
                   None, ErrorCode.NOT_FOUND),
            _write("POST", "/{id}/trust", self.trust,
                   "Trust the key that a remote host shows", EmptyPayload, TrustBody,
                   ErrorCode.NOT_FOUND),
            _write("POST", "/{id}/wake", self.wake_host,
                   "Wake a remote host, and wait for it up to 40 s", Woken, None,
                   ErrorCode.NOT_FOUND, ErrorCode.INVALID_INPUT),
            Operation(
                method="GET",
                path="/api/remote-hosts/{id}/sessions",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.sessions,
                summary="The tmux sessions there that could be attached to",
                tag="Remote hosts",
                response_model=TmuxSessions,
                errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
            ),
        ]  # fmt: skip

    def _of_sessions(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/reachability",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.reachability,
                summary="Whether the host of a session is reached now",
                tag="Remote hosts",
                response_model=Reachability,
            ),
            Operation(
                method="POST",
                path="/api/sessions/{id}/wake",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                handler=self.wake,
                summary="Wake the host of a session, and wait for it up to 40 s",
                tag="Remote hosts",
                response_model=Woken,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def list(self, call: OperationCall) -> object:
        """List every host, for admins only."""
        if not call.identity.admin:
            return []
        return [host_answer(host) for host in self._hosts.book.all()]

    async def add(self, call: OperationCall) -> object:
        """Add a host."""
        return OneRemoteHost(
            host=host_answer(await self._hosts.add(call.body.record(), call.reauthorize))
        )

    async def change(self, call: OperationCall) -> object:
        """Replace a host."""
        made = await self._hosts.replace(call.id, call.body.record(), call.reauthorize)
        return OneRemoteHost(host=host_answer(made))

    async def remove(self, call: OperationCall) -> object:
        """Remove a host."""
        await self._hosts.remove(call.id, call.reauthorize)
        return EmptyPayload()

    async def check(self, call: OperationCall) -> object:
        """Check whether a host can be used."""
        return checked_answer(await self._hosts.check(call.id))

    async def trust(self, call: OperationCall) -> object:
        """Trust the key of a host."""
        await self._hosts.trust(call.id, call.body.fingerprint, call.reauthorize)
        return EmptyPayload()

    async def sessions(self, call: OperationCall) -> object:
        """List the tmux sessions on a host."""
        found = await self._hosts.sessions(call.id)
        return TmuxSessions(
            sessions=[TmuxSession.model_validate(each, from_attributes=True) for each in found]
        )

    async def reachability(self, call: OperationCall) -> object:
        """Return the state of the connection to a session's host."""
        place = self._place_of(call.id)
        if place.kind is not LocationKind.REMOTE:
            return Reachability(reachable=True, wake_configured="none")
        link = self._hosts.links.of(place.name)
        if link is None:
            return Reachability(
                reachable=False, wake_configured="none", error="the host was removed"
            )
        connection = link.connection
        tried = False if connection.why is not None else None
        return Reachability(
            reachable=True if connection.up else tried,
            wake_configured=link.host.wake,
            next_at=connection.next_at,
            error=connection.why,
        )

    async def wake(self, call: OperationCall) -> object:
        """Wake the host of a session."""
        place = self._place_of(call.id)
        link = self._hosts.links.of(place.name) if place.kind is LocationKind.REMOTE else None
        return await _wake(link, "the host of this session")

    async def wake_host(self, call: OperationCall) -> object:
        """Wake a host, with or without sessions."""
        return await _wake(self._hosts.links.of(self._hosts.book.get(call.id).id), "this host")


async def _wake(link: Link | None, which: str) -> Woken:
    configured = "none" if link is None else link.host.wake
    if link is None or configured == "none":
        raise invalid_field("id", f"no wake method is configured for {which}")
    woke = await link.waker.wake()
    up = link.connection.up
    why = None if up else link.waker.why
    return Woken(woke=woke, reachable=up, wake_configured=configured, error=why)


def _write(
    method: str, path: str, handler: Any, summary: str, answer: Any, body: Any, *errors: ErrorCode
) -> Operation:
    common = (ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED)
    return Operation(
        method=method,
        path="/api/remote-hosts" + path,
        access=AccessRule.ADMIN,
        scope=Scope.ADMIN,
        handler=handler,
        summary=summary,
        tag="Remote hosts",
        response_model=answer,
        body=body,
        errors=(*errors, *common),
    )
