"""Service for remote hosts, for routes and other features."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

from attrs import evolve, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.callers.caller import Caller
from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.core.process.child import ChildCommand, ChildFamily, ChildRunner
from tservice.core.workers.worker_pool import IThreads
from tservice.hosts.connection import HostUnreachable
from tservice.hosts.host_keys import HostKey, KnownHostsFile, parse_keys
from tservice.hosts.host_links import HostLinks
from tservice.hosts.model import RemoteHost
from tservice.hosts.registry import HostRegistry
from tservice.hosts.remote_locations import check_tmux_version
from tservice.hosts.ssh_command import SshCommand
from tservice.hosts.ssh_master import KEPT_ERRORS, join_error_lines
from tservice.mux.remote.attached_session import LIST, ListedSession, parse_session_list
from tservice.mux.remote.runner import RemoteError
from tservice.mux.remote.shell_quoting import join_shell_commands

KNOCK_TIMEOUT = 12.0


@frozen(kw_only=True)
class HostCheck:
    """Result of checking a host.

    @ivar host_key: C{known}, C{unknown} or C{changed}; C{None} if the host presented no key.
    """

    ok: bool
    host_key: Literal["known", "unknown", "changed"] | None
    fingerprint: str | None = None
    known_fingerprint: str | None = None
    latency_ms: int | None = None
    tmux: str | None = None
    error: str | None = None


class HostService:
    """Service that manages remote hosts, their trusted keys and their connections.

    @param find_user: returns the name of a case or session that uses a host, or C{None} if the host
        is unused.
    """

    def __init__(
        self,
        *,
        clock: IReactorTime,
        children: ChildRunner,
        threads: IThreads,
        registry: HostRegistry,
        keys: KnownHostsFile,
        ssh: SshCommand,
        env: Mapping[str, str],
        links: HostLinks,
        find_user: Callable[[str], str | None],
    ) -> None:
        self.registry = registry
        self.links = links
        self._clock = clock
        self._children = children
        self._threads = threads
        self._keys = keys
        self._ssh = ssh
        self._env = env
        self._find_user = find_user

    async def add_host(self, host: RemoteHost, caller: Caller) -> RemoteHost:
        """Add a host; see L{HostRegistry.add}."""
        return await self.registry.add(host, caller)

    async def replace_host(self, host_id: str, host: RemoteHost, caller: Caller) -> RemoteHost:
        """Replace the record of a host. Its sessions use the new record from now on.

        @param caller: authorized again after waiting for concurrent
            changes.
        @raise ServiceError: as in L{HostRegistry.replace_host}.
        """
        made = await self.registry.replace_host(evolve(host, id=host_id), caller)
        self.links.close_link(host_id)
        return made

    async def remove_host(self, host_id: str, caller: Caller) -> None:
        """Remove a host that nothing uses.

        @param caller: as for L{replace_host}.
        @raise ServiceError: 404 if there is no such host; 422 if a case or a session uses it.
        """

        def refuse_if_host_used() -> None:
            caller.reauthorize()
            user = self._find_user(host_id)
            if user is not None:
                raise make_failure_error(f"{user} uses this host")

        await self.registry.remove(host_id, refuse_if_host_used)
        self.links.close_link(host_id)

    async def check_host(self, host_id: str) -> HostCheck:
        """Check that a host can be reached, that its key is trusted, and that it has tmux. Takes 30
        s at most.

        @raise ServiceError: 404 if there is no such host.
        """
        host = self.registry.get_host(host_id)
        try:
            shown = await self._fetch_key(host)
        except HostUnreachable as error:
            return HostCheck(ok=False, host_key=None, error=str(error))
        known = await self._trusted_keys(host)
        told = partial(HostCheck, fingerprint=shown.fingerprint)
        if shown not in known:
            state: Literal["unknown", "changed"] = "changed" if known else "unknown"
            trusted = known[0].fingerprint if known else None
            why = _describe_untrusted(host, shown, known)
            return told(ok=False, host_key=state, known_fingerprint=trusted, error=why)
        link = self.links.find_or_create_link(host_id)
        if link is None:
            return told(ok=False, host_key="known", error="the host was removed during the check")
        try:
            facts = await link.fetch_facts()
            begun = self._clock.seconds()
            await link.runner.run_program(join_shell_commands(b"true"))
            latency = round((self._clock.seconds() - begun) * 1000)
            check_tmux_version(facts.tmux)
        except (HostUnreachable, RemoteError) as error:
            return told(ok=False, host_key="known", error=str(error))
        except ServiceError as error:
            return told(
                ok=False, host_key="known", latency_ms=latency, tmux=facts.tmux, error=error.message
            )
        return told(ok=True, host_key="known", latency_ms=latency, tmux=facts.tmux)

    async def list_tmux_sessions(self, host_id: str) -> list[ListedSession]:
        """Return the tmux sessions on the user's default tmux server of a host.

        @raise ServiceError: 404 if there is no such host; 422 if it is unreachable or has no tmux.
        """
        link = self.links.find_or_create_link(host_id)
        if link is None:
            self.registry.get_host(host_id)
            return []
        try:
            check_tmux_version((await link.fetch_facts()).tmux)
            answer = await link.runner.run_program(LIST)
        except (HostUnreachable, RemoteError) as error:
            raise make_failure_error(f"{link.host.label} is out of reach: {error}") from error
        return parse_session_list(answer.out)

    async def trust_host(self, host_id: str, fingerprint: str, caller: Caller) -> None:
        """Fetch the host's current key, and trust it if it has this fingerprint.

        @param caller: authorized again after the key was fetched.
        @raise ServiceError: 404 if there is no such host; 409 if the key has another fingerprint;
            422 if the host presents no key.
        """
        host = self.registry.get_host(host_id)
        try:
            shown = await self._fetch_key(host)
        except HostUnreachable as error:
            raise make_failure_error(f"{host.label} is out of reach: {error}") from error
        if shown.fingerprint != fingerprint:
            raise make_conflict_error(
                f"fingerprint: the host presents {shown.fingerprint}, not {fingerprint}"
            )
        caller.reauthorize()
        try:
            await self._threads.run(partial(self._keys.trust_key, host, shown))
        except (FileError, OSError) as error:
            raise make_failure_error(f"the key cannot be saved: {error}") from error
        self.links.close_link(host_id)

    async def explain_failure(self, host: RemoteHost, why: str) -> str:
        """Return a text that explains why a host was not reached.

        If its key is not trusted, the text contains the trusted and the presented fingerprint.

        @param why: reason that ssh gave.
        """
        if "host key" not in why.casefold():
            return why
        try:
            shown, known = await self._fetch_key(host), await self._trusted_keys(host)
        except (HostUnreachable, ServiceError):
            return why
        return why if shown in known else _describe_untrusted(host, shown, known)

    async def _trusted_keys(self, host: RemoteHost) -> list[HostKey]:
        try:
            return list(await self._threads.run(partial(self._keys.read_trusted_keys, host)))
        except (FileError, OSError) as error:
            raise ServiceError(ErrorCode.OPERATION_FAILED, str(error)) from error

    async def _fetch_key(self, host: RemoteHost) -> HostKey:
        """Return the key that the host presents now.

        @raise HostUnreachable: the host presents no key.
        """
        with tempfile.TemporaryDirectory(dir=self._ssh.sockets, prefix="k-") as folder:
            known = Path(folder) / "known"
            command = ChildCommand(
                argv=self._ssh.build_key_scan_command(host, known),
                env=self._env,
                # ssh runs a ProxyCommand or another ssh for a jump.
                family=ChildFamily.BOUND,
                seconds=KNOCK_TIMEOUT,
                error_limit=KEPT_ERRORS,
            )
            try:
                result = await self._children.run(command)
            except OSError as error:
                raise HostUnreachable(f"ssh cannot be started: {error.strerror}") from error
            found = parse_keys(known.read_text("utf-8")) if known.exists() else []
        if not found:
            raise HostUnreachable(
                join_error_lines(result.errors) or f"ssh ended with status {result.status}"
            )
        return found[-1]


def _describe_untrusted(host: RemoteHost, shown: HostKey, known: list[HostKey]) -> str:
    if not known:
        return (
            f"the key of {host.label} is not known: it presents {shown.fingerprint}; "
            "compare it with the host's own and trust it"
        )
    return (
        f"the key of {host.label} has changed: {known[0].fingerprint} is trusted, "
        f"it presents {shown.fingerprint}; there is no connection until you trust that key"
    )
