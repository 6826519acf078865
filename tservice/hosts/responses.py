"""Response models of remote hosts (protocol-remote)."""

from __future__ import annotations

from typing import Literal

from tservice.core.values.payload import Payload, omit_if_none
from tservice.hosts.model import RemoteHost
from tservice.hosts.service import HostCheck


class RemoteHostAnswer(Payload):
    """Remote host on which sessions can run."""

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
    """Response with a remote host."""

    host: RemoteHostAnswer


class HostCheckResponse(Payload):
    """Result of a check of a host. C{host_key} is absent if the host showed none."""

    ok: bool
    host_key: Literal["known", "unknown", "changed"] | None = omit_if_none()
    fingerprint: str | None = omit_if_none()
    known_fingerprint: str | None = omit_if_none()
    latency_ms: int | None = omit_if_none()
    tmux: str | None = omit_if_none()
    error: str | None = omit_if_none()


class HostReachability(Payload):
    """Connection state of the session's host; null if no attempt was made.

    C{next_at} is the time of the next automatic attempt, in Unix milliseconds.
    """

    reachable: bool | None
    wake_configured: Literal["mac", "command", "none"]
    next_at: int | None = omit_if_none()
    error: str | None = omit_if_none()


class TmuxSession(Payload):
    """Tmux session on the user's tmux server of a host; C{attached} is the number of clients."""

    name: str
    attached: int
    created: int
    windows: int
    cols: int
    rows: int


class TmuxSessions(Payload):
    """Tmux sessions on a host."""

    sessions: list[TmuxSession]


class WakeResponse(Payload):
    """Result of waking a host. C{woke}: the wake method was run. C{error}: the reason why the host
    was not reached.
    """

    woke: bool
    reachable: bool
    wake_configured: Literal["mac", "command"]
    error: str | None = omit_if_none()


def make_host_response(host: RemoteHost) -> RemoteHostAnswer:
    """Convert a host to the response model."""
    return RemoteHostAnswer.model_validate(host, from_attributes=True)


def make_check_response(found: HostCheck) -> HostCheckResponse:
    """Convert the result of a host check to the response model."""
    return HostCheckResponse.model_validate(found, from_attributes=True)
