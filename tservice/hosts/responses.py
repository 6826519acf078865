"""Response models of remote hosts (protocol-remote)."""

from __future__ import annotations

from typing import Literal

from tservice.core.payload import Payload, omit_if_none
from tservice.hosts.model import RemoteHost
from tservice.hosts.service import HostCheck


class RemoteHostAnswer(Payload):
    """A machine that sessions can run on."""

    id: str
    label: str
    host: str
    username: str
    port: int
    identity_file: str | None = omit_if_none()
    jump_host: str | None = omit_if_none()
    extra_ssh_options: list[str]
    commands: dict[str, str]
    wake_mac: str | None = omit_if_none()
    wake_command: str | None = omit_if_none()


class RemoteHostEnvelope(Payload):
    """A host, wrapped."""

    host: RemoteHostAnswer


class HostCheckResponse(Payload):
    """What a look at a host told; C{host_key} is missing where it showed none."""

    ok: bool
    host_key: Literal["known", "unknown", "changed"] | None = omit_if_none()
    fingerprint: str | None = omit_if_none()
    known_fingerprint: str | None = omit_if_none()
    latency_ms: int | None = omit_if_none()
    tmux: str | None = omit_if_none()
    error: str | None = omit_if_none()


class HostReachability(Payload):
    """Whether the host of a session is reached now; null for one that was not tried.

    C{next_at} is when it is tried next by itself, in Unix milliseconds.
    """

    reachable: bool | None
    wake_configured: Literal["mac", "command", "none"]
    next_at: int | None = omit_if_none()
    error: str | None = omit_if_none()


class TmuxSession(Payload):
    """A tmux session on the user's own server of a host; C{attached}: how many look at it."""

    name: str
    attached: int
    created: int
    windows: int
    cols: int
    rows: int


class TmuxSessions(Payload):
    """Those of a host."""

    sessions: list[TmuxSession]


class WakeResponse(Payload):
    """What came of waking a host; C{woke}: what wakes it was done; C{error}: why it was in vain."""

    woke: bool
    reachable: bool
    wake_configured: Literal["mac", "command"]
    error: str | None = omit_if_none()


def to_response(host: RemoteHost) -> RemoteHostAnswer:
    """Return the response for a host."""
    return RemoteHostAnswer(
        id=host.id,
        label=host.label,
        host=host.host,
        username=host.username,
        port=host.port,
        identity_file=host.identity_file,
        jump_host=host.jump_host,
        extra_ssh_options=list(host.extra_ssh_options),
        commands=dict(host.commands),
        wake_mac=host.wake_mac,
        wake_command=host.wake_command,
    )


def to_check_response(found: HostCheck) -> HostCheckResponse:
    """Return the response for the check of a host."""
    return HostCheckResponse(
        ok=found.ok,
        host_key=found.host_key,
        fingerprint=found.fingerprint,
        known_fingerprint=found.known_fingerprint,
        latency_ms=found.latency_ms,
        tmux=found.tmux,
        error=found.error,
    )
