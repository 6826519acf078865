"""Response models of remote hosts (protocol-remote)."""

from __future__ import annotations

from typing import Literal

from tservice.core.payload import Payload, absent
from tservice.hosts.model import RemoteHost
from tservice.hosts.service import Checked


class RemoteHostAnswer(Payload):
    """A machine that sessions can run on."""

    id: str
    label: str
    host: str
    username: str
    port: int
    identity_file: str | None = absent()
    jump_host: str | None = absent()
    extra_ssh_options: list[str]
    commands: dict[str, str]
    wake_mac: str | None = absent()
    wake_command: str | None = absent()


class OneRemoteHost(Payload):
    """A host, wrapped."""

    host: RemoteHostAnswer


class HostChecked(Payload):
    """What a look at a host told; C{host_key} is missing where it showed none."""

    ok: bool
    host_key: Literal["known", "unknown", "changed"] | None = absent()
    fingerprint: str | None = absent()
    known_fingerprint: str | None = absent()
    latency_ms: int | None = absent()
    tmux: str | None = absent()
    error: str | None = absent()


class Reachability(Payload):
    """Whether the host of a session is reached now; null for one that was not tried.

    C{next_at} is when it is tried next by itself, in Unix milliseconds.
    """

    reachable: bool | None
    wake_configured: Literal["mac", "command", "none"]
    next_at: int | None = absent()
    error: str | None = absent()


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


class Woken(Payload):
    """What came of waking a host; C{woke}: what wakes it was done; C{error}: why it was in vain."""

    woke: bool
    reachable: bool
    wake_configured: Literal["mac", "command"]
    error: str | None = absent()


def host_answer(host: RemoteHost) -> RemoteHostAnswer:
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


def checked_answer(found: Checked) -> HostChecked:
    """Return the response for the check of a host."""
    return HostChecked(
        ok=found.ok,
        host_key=found.host_key,
        fingerprint=found.fingerprint,
        known_fingerprint=found.known_fingerprint,
        latency_ms=found.latency_ms,
        tmux=found.tmux,
        error=found.error,
    )
