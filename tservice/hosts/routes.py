"""Routes of C{/api/remote-hosts}, C{/api/sessions/{id}/reachability} and C{wake}
(protocol-remote).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.kernel.errors import ErrorCode, make_field_error
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import READS_SESSIONS, TYPES, Scope
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.values.failfast import FAIL_FAST
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
    make_check_response,
    make_host_response,
)
from tservice.hosts.service import HostService
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.models import RequestBody

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


_READS = OperationFields(
    tag="Remote hosts",
    scope=Scope.ADMIN,
    scope_reason=(
        "Lists the machines on which sessions can run, and the names and key files for them."
    ),
)
_CHANGES = OperationFields(
    tag="Remote hosts",
    access=AccessRule.ADMIN,
    scope=Scope.ADMIN,
    scope_reason=(
        "Sets the machines for sessions, and the trusted keys. A caller who chooses a "
        "machine can see the input typed there."
    ),
    errors=(ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
)


class HostRoutes:
    """Routes of remote hosts; the rules are in L{HostService}."""

    def __init__(self, hosts: HostService, place_of: Callable[[str], LocationId]) -> None:
        """Create the routes.

        @param place_of: returns the location of the session with this id.
        """
        self._hosts = hosts
        self._place_of = place_of

    @operation("GET", "/api/remote-hosts", _READS, access=AccessRule.USER)
    async def list_hosts(self, call: OperationCall) -> list[RemoteHostAnswer]:
        """List the remote hosts; empty unless you are an admin."""
        if not call.caller.admin:
            return []
        return [make_host_response(host) for host in self._hosts.registry.list_hosts()]

    @operation("POST", "/api/remote-hosts", _CHANGES, errors=(ErrorCode.ALREADY_EXISTS,))
    async def add_host(self, call: OperationCall, body: RemoteHostBody) -> RemoteHostEnvelope:
        """Add a remote host."""
        return RemoteHostEnvelope(
            host=make_host_response(await self._hosts.add_host(body.to_record(), call.caller))
        )

    @operation(
        "PUT",
        "/api/remote-hosts/{id}",
        _CHANGES,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.ALREADY_EXISTS),
    )
    async def replace_host(self, call: OperationCall, body: RemoteHostBody) -> RemoteHostEnvelope:
        """Replace a remote host."""
        made = await self._hosts.replace_host(call.id, body.to_record(), call.caller)
        return RemoteHostEnvelope(host=make_host_response(made))

    @operation("DELETE", "/api/remote-hosts/{id}", _CHANGES, errors=(ErrorCode.NOT_FOUND,))
    async def remove_host(self, call: OperationCall) -> EmptyPayload:
        """Remove a remote host that nothing uses."""
        await self._hosts.remove_host(call.id, call.caller)
        return EmptyPayload()

    @operation("POST", "/api/remote-hosts/{id}/check", _CHANGES, errors=(ErrorCode.NOT_FOUND,))
    async def check_host(self, call: OperationCall) -> HostCheckResponse:
        """Check that a remote host can be used, and get its key."""
        return make_check_response(await self._hosts.check_host(call.id))

    @operation("POST", "/api/remote-hosts/{id}/trust", _CHANGES, errors=(ErrorCode.NOT_FOUND,))
    async def trust_host(self, call: OperationCall, body: TrustBody) -> EmptyPayload:
        """Trust the key that a remote host shows."""
        await self._hosts.trust_host(call.id, body.fingerprint, call.caller)
        return EmptyPayload()

    @operation(
        "GET",
        "/api/remote-hosts/{id}/sessions",
        _READS,
        access=AccessRule.ADMIN,
        errors=(ErrorCode.NOT_FOUND, ErrorCode.OPERATION_FAILED),
    )
    async def list_tmux_sessions(self, call: OperationCall) -> TmuxSessions:
        """List the tmux sessions on the host that can be attached to."""
        found = await self._hosts.list_tmux_sessions(call.id)
        return TmuxSessions(
            sessions=[TmuxSession.model_validate(each, from_attributes=True) for each in found]
        )

    @operation(
        "GET",
        "/api/sessions/{id}/reachability",
        tag="Remote hosts",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_READ,
        scope_reason=READS_SESSIONS,
    )
    async def get_reachability(self, call: OperationCall) -> HostReachability:
        """Check the connection to the host of a session."""
        place = self._place_of(call.id)
        if place.kind is not LocationKind.REMOTE:
            return HostReachability(reachable=True, wake_configured="none")
        link = self._hosts.links.find_or_create_link(place.name)
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

    @operation(
        "POST",
        "/api/sessions/{id}/wake",
        tag="Remote hosts",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_INPUT,
        scope_reason=TYPES,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
    async def wake_session_host(self, call: OperationCall) -> WakeResponse:
        """Wake the host of a session, and wait for it up to 40 s."""
        place = self._place_of(call.id)
        link = (
            self._hosts.links.find_or_create_link(place.name)
            if place.kind is LocationKind.REMOTE
            else None
        )
        return await _wake_link(link, "the host of this session")

    @operation(
        "POST",
        "/api/remote-hosts/{id}/wake",
        _CHANGES,
        scope_reason=(
            "Wakes a machine with the method in its record, and opens the connection to it."
        ),
        errors=(ErrorCode.NOT_FOUND, ErrorCode.INVALID_INPUT),
    )
    async def wake_host(self, call: OperationCall) -> WakeResponse:
        """Wake a remote host, and wait for it up to 40 s."""
        return await _wake_link(
            self._hosts.links.find_or_create_link(self._hosts.registry.get_host(call.id).id),
            "this host",
        )


async def _wake_link(link: HostLink | None, which: str) -> WakeResponse:
    configured = "none" if link is None else link.host.wake_method
    if link is None or configured == "none":
        raise make_field_error("id", f"no wake method is configured for {which}")
    woke = await link.waker.wake_host()
    up = link.connection.is_up
    why = None if up else link.waker.failure_reason
    return WakeResponse(woke=woke, reachable=up, wake_configured=configured, error=why)
