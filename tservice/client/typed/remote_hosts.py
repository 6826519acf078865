"""Remote hosts: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from tservice.client.calling import Calling, quoted


class HostChecked(TypedDict):
    """What a look at a host told; C{host_key} is missing where it showed none."""

    ok: bool
    hostKey: NotRequired[Literal["known", "unknown", "changed"]]
    fingerprint: NotRequired[str]
    knownFingerprint: NotRequired[str]
    latencyMs: NotRequired[int]
    tmux: NotRequired[str]
    error: NotRequired[str]


class OneRemoteHost(TypedDict):
    """A host, wrapped."""

    host: RemoteHostAnswer


class Reachability(TypedDict):
    """Whether the host of a session is reached now; null for one that was not tried. C{next_at}
    is when it is tried next by itself, in Unix milliseconds.
    """

    reachable: bool | None
    wakeConfigured: Literal["mac", "command", "none"]
    nextAt: NotRequired[int]
    error: NotRequired[str]


class RemoteHostAnswer(TypedDict):
    """A machine that sessions can run on."""

    id: str
    label: str
    host: str
    username: str
    port: int
    identityFile: NotRequired[str]
    jumpHost: NotRequired[str]
    extraSshOptions: list[str]
    commands: dict[str, str]
    wakeMac: NotRequired[str]
    wakeCommand: NotRequired[str]


class RemoteHostBody(TypedDict):
    """A machine; everything but its label, host and username has a default."""

    label: str
    host: str
    username: str
    port: NotRequired[int]
    identityFile: NotRequired[str | None]
    jumpHost: NotRequired[str | None]
    extraSshOptions: NotRequired[list[str]]
    commands: NotRequired[dict[str, str]]
    wakeMac: NotRequired[str | None]
    wakeCommand: NotRequired[str | None]


class TmuxSession(TypedDict):
    """A tmux session on the user's own server of a host; C{attached}: how many look at it."""

    name: str
    attached: int
    created: int
    windows: int
    cols: int
    rows: int


class TmuxSessions(TypedDict):
    """Those of a host."""

    sessions: list[TmuxSession]


class TrustBody(TypedDict):
    """The key that was compared with the host's own, as C{SHA256:...}."""

    fingerprint: str


class Woken(TypedDict):
    """What came of waking a host; C{woke}: what wakes it was done; C{error}: why it was in vain."""

    woke: bool
    reachable: bool
    wakeConfigured: Literal["mac", "command"]
    error: NotRequired[str]


class RemoteHosts(Calling):
    """Remote hosts."""

    async def get_remote_hosts(self) -> list[RemoteHostAnswer]:
        """The remote hosts; none for anybody but an admin."""
        found: list[RemoteHostAnswer] = await self.call("GET", "/remote-hosts")
        return found

    async def post_remote_hosts(self, body: RemoteHostBody) -> OneRemoteHost:
        """Keep a remote host."""
        found: OneRemoteHost = await self.call("POST", "/remote-hosts", body=body)
        return found

    async def put_remote_hosts_id(self, id: str, body: RemoteHostBody) -> OneRemoteHost:
        """Replace a remote host."""
        found: OneRemoteHost = await self.call("PUT", f"/remote-hosts/{quoted(id)}", body=body)
        return found

    async def delete_remote_hosts_id(self, id: str) -> dict[str, Any]:
        """Forget a remote host that nothing is on."""
        found: dict[str, Any] = await self.call("DELETE", f"/remote-hosts/{quoted(id)}")
        return found

    async def post_remote_hosts_id_check(self, id: str) -> HostChecked:
        """Look whether a remote host can be used, and which key it shows."""
        found: HostChecked = await self.call("POST", f"/remote-hosts/{quoted(id)}/check")
        return found

    async def post_remote_hosts_id_trust(self, id: str, body: TrustBody) -> dict[str, Any]:
        """Trust the key that a remote host shows."""
        found: dict[str, Any] = await self.call(
            "POST", f"/remote-hosts/{quoted(id)}/trust", body=body
        )
        return found

    async def post_remote_hosts_id_wake(self, id: str) -> Woken:
        """Wake a remote host, and wait for it up to 40 s."""
        found: Woken = await self.call("POST", f"/remote-hosts/{quoted(id)}/wake")
        return found

    async def get_remote_hosts_id_sessions(self, id: str) -> TmuxSessions:
        """The tmux sessions there that could be attached to."""
        found: TmuxSessions = await self.call("GET", f"/remote-hosts/{quoted(id)}/sessions")
        return found

    async def get_sessions_id_reachability(self, id: str) -> Reachability:
        """Whether the host of a session is reached now."""
        found: Reachability = await self.call("GET", f"/sessions/{quoted(id)}/reachability")
        return found

    async def post_sessions_id_wake(self, id: str) -> Woken:
        """Wake the host of a session, and wait for it up to 40 s."""
        found: Woken = await self.call("POST", f"/sessions/{quoted(id)}/wake")
        return found
