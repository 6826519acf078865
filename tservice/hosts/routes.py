"""Routes of C{/api/remote-hosts}, C{/api/sessions/{id}/reachability} and C{wake}
(protocol-remote).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from tservice.core.errors import ErrorCode, make_field_error
from tservice.core.event_payloads import EmptyPayload
from tservice.core.failfast import FAIL_FAST
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.scopes import Scope
from tservice.hosts.host_links import HostLink
from tservice.hosts.model import MOST_COMMANDS, MOST_OPTIONS, OPTION_LENGTH, RemoteHost
from tservice.hosts.responses import (
    HostCheckResponse,
    HostReachability,
    RemoteHostAnswer,
    RemoteHostEnvelope,
    TmuxSession,
    TmuxSessions,
    WakeResponse,
    to_check_response,
    to_response,
)
from tservice.hosts.service import HostService
from tservice.http.models import RequestBody
from tservice.http.operations import AccessRule, Operation, OperationCall

_Line = Annotated[str, StringConstraints(max_length=2000)]
_Option = Annotated[str, StringConstraints(max_length=OPTION_LENGTH)]


class RemoteHostBody(RequestBody):
    """Remote host. Every field except label, host and username has a default."""

    label: _Line
    host: _Line
    username: _Line
    port: int = 22
    identity_file: _Line | None = None
    jump_host: _Line | None = Field(default=None, description="Format of ssh's ProxyJump")
    extra_ssh_options: Annotated[list[_Option], Field(max_length=MOST_OPTIONS), FAIL_FAST] = []
    commands: Annotated[dict[_Line, _Line], Field(max_length=MOST_COMMANDS)] = {}
    wake_mac: _Line | None = None
    wake_command: _Line | None = None

    def to_record(self) -> RemoteHost:
        """Return the host described by the body. Its fields are not validated yet."""
        given = self.model_dump()
        given["extra_ssh_options"] = tuple(given["extra_ssh_options"])
        return RemoteHost(id="", **given)


class TrustBody(RequestBody):
    """Key that the user compared with the host's, as C{SHA256:...}."""

    fingerprint: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class HostRoutes:
    """Routes of remote hosts; the rules are in L{HostService}."""

    def __init__(self, hosts: HostService, place_of: Callable[[str], LocationId]) -> None:
        """Create the routes.

        @param place_of: returns the location of the session with this id.
        """
        self._hosts = hosts
        self._place_of = place_of

    def operations(self) -> list[Operation]:
        """Return the operations of these routes."""
        return [*self._host_operations(), *self._session_operations()]

    def _host_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/remote-hosts",
                access=AccessRule.USER,
                scope=Scope.ADMIN,
                handler=self.list_hosts,
                summary="List the remote hosts; empty unless you are an admin",
                tag="Remote hosts",
                response_model=list[RemoteHostAnswer],
            ),
            _write_operation("POST", "", self.add_host, "Add a remote host", RemoteHostEnvelope,
                             RemoteHostBody,
                   ErrorCode.ALREADY_EXISTS),
            _write_operation("PUT", "/{id}", self.replace_host, "Replace a remote host",
                             RemoteHostEnvelope,
                   RemoteHostBody, ErrorCode.NOT_FOUND, ErrorCode.ALREADY_EXISTS),
            _write_operation("DELETE", "/{id}", self.remove_host,
                             "Remove a remote host that nothing uses",
                   EmptyPayload, None, ErrorCode.NOT_FOUND),
            _write_operation("POST", "/{id}/check", self.check_host,
                   "Check that a remote host can be used, and get its key", HostCheckResponse,
                   None, ErrorCode.NOT_FOUND),
            _write_operation("POST", "/{id}/trust", self.trust_host,
                   "Trust the key that a remote host shows", EmptyPayload, TrustBody,
                   ErrorCode.NOT_FOUND),
            _write_operation("POST", "/{id}/wake", self.wake_host,
                   "Wake a remote host, and wait for it up to 40 s", WakeResponse, None,
                   ErrorCode.NOT_FOUND, ErrorCode.INVALID_INPUT),
            Operation(
                method="GET",
                path="/api/remote-hosts/{id}/sessions",
                access=AccessRule.ADMIN,
                scope=Scope.ADMIN,
                handler=self.list_tmux_sessions,
                summary="List the tmux sessions on the host that can be attached to",
                tag="Remote hosts",
                response_model=TmuxSessions,
                errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
            ),
        ]  # fmt: skip

    def _session_operations(self) -> list[Operation]:
        return [
            Operation(
                method="GET",
                path="/api/sessions/{id}/reachability",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_READ,
                handler=self.get_reachability,
                summary="Check the connection to the host of a session",
                tag="Remote hosts",
                response_model=HostReachability,
            ),
            Operation(
                method="POST",
                path="/api/sessions/{id}/wake",
                access=AccessRule.OWNER,
                scope=Scope.SESSIONS_INPUT,
                handler=self.wake_session_host,
                summary="Wake the host of a session, and wait for it up to 40 s",
                tag="Remote hosts",
                response_model=WakeResponse,
                errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def list_hosts(self, call: OperationCall) -> object:
        """List every host. Only admins may call this."""
        if not call.identity.admin:
            return []
        return [to_response(host) for host in self._hosts.registry.list_hosts()]

    async def add_host(self, call: OperationCall) -> object:
        """Add a host."""
        return RemoteHostEnvelope(
            host=to_response(await self._hosts.add_host(call.body.to_record(), call.reauthorize))
        )

    async def replace_host(self, call: OperationCall) -> object:
        """Replace a host."""
        made = await self._hosts.replace_host(call.id, call.body.to_record(), call.reauthorize)
        return RemoteHostEnvelope(host=to_response(made))

    async def remove_host(self, call: OperationCall) -> object:
        """Remove a host."""
        await self._hosts.remove_host(call.id, call.reauthorize)
        return EmptyPayload()

    async def check_host(self, call: OperationCall) -> object:
        """Check that sessions can run on a host, and report problems."""
        return to_check_response(await self._hosts.check_host(call.id))

    async def trust_host(self, call: OperationCall) -> object:
        """Trust the current key of a host."""
        await self._hosts.trust_host(call.id, call.body.fingerprint, call.reauthorize)
        return EmptyPayload()

    async def list_tmux_sessions(self, call: OperationCall) -> object:
        """List the tmux sessions of the user on a host."""
        found = await self._hosts.list_tmux_sessions(call.id)
        return TmuxSessions(
            sessions=[TmuxSession.model_validate(each, from_attributes=True) for each in found]
        )

    async def get_reachability(self, call: OperationCall) -> object:
        """Return the state of the connection to a session's host."""
        place = self._place_of(call.id)
        if place.kind is not LocationKind.REMOTE:
            return HostReachability(reachable=True, wake_configured="none")
        link = self._hosts.links.get_link(place.name)
        if link is None:
            return HostReachability(
                reachable=False, wake_configured="none", error="the host was removed"
            )
        connection = link.connection
        tried = False if connection.failure_reason is not None else None
        return HostReachability(
            reachable=True if connection.is_up else tried,
            wake_configured=link.host.wake_method,
            next_at=connection.next_at,
            error=connection.failure_reason,
        )

    async def wake_session_host(self, call: OperationCall) -> object:
        """Wake the host that a session runs on."""
        place = self._place_of(call.id)
        link = self._hosts.links.get_link(place.name) if place.kind is LocationKind.REMOTE else None
        return await _wake_link(link, "the host of this session")

    async def wake_host(self, call: OperationCall) -> object:
        """Wake a host, regardless of its sessions."""
        return await _wake_link(
            self._hosts.links.get_link(self._hosts.registry.get_host(call.id).id), "this host"
        )


async def _wake_link(link: HostLink | None, which: str) -> WakeResponse:
    configured = "none" if link is None else link.host.wake_method
    if link is None or configured == "none":
        raise make_field_error("id", f"no wake method is configured for {which}")
    woke = await link.waker.wake_host()
    up = link.connection.is_up
    why = None if up else link.waker.failure_reason
    return WakeResponse(woke=woke, reachable=up, wake_configured=configured, error=why)


def _write_operation(
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
