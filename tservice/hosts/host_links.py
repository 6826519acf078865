"""Connections and command runners of all remote hosts, created on demand."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from attrs import define, evolve, frozen
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.core.locations.location import Location
from tservice.core.process.program_folders import (
    format_shell_patterns,
    join_path,
    sort_program_folders,
)
from tservice.hosts.connection import HostConnection, HostUnreachable, MasterConnection
from tservice.hosts.model import RemoteHost
from tservice.hosts.ssh_command import SshCommand
from tservice.hosts.ssh_master import SshMaster
from tservice.hosts.waking import HostWakeService
from tservice.mux.interface import MuxError
from tservice.mux.remote.preopened_channel import PreopenedChannel
from tservice.mux.remote.runner import RemoteChannel, RemoteEnd, RemoteError, RemoteRunner
from tservice.mux.remote.shell_quoting import join_shell_commands, quote_word

LOGIN_SECONDS = 5
MAX_FACT_LENGTH = 16 * 1024
"""Maximum length in characters of a value that a host reports. A PATH has some hundreds."""
_UID = re.compile(r"[0-9]{1,10}")


@frozen(kw_only=True)
class HostFacts:
    """Properties that a host reports: its user, folders, shell, tmux version and PATH.

    @ivar tmux: version of tmux on the host, or C{None} if tmux is not installed.
    @ivar path: C{PATH} of the login shell, followed by the usual program folders.
    """

    user: str
    uid: int
    home: str
    shell: str
    path: str
    tmux: str | None


_SAY_PATH = quote_word(b"exec sh -c 'echo; echo tservice:\"$PATH\"'")
"""Command that prints the C{PATH} in any login shell. The shell may print other text before it."""

_LOGIN_PATH = (
    b"tservice_sh=${SHELL:-/bin/sh}; { case $tservice_sh in "
    # These accept -l as their only option.
    b'*csh) echo %b | "$tservice_sh" -l;; '
    b'*) "$tservice_sh" -lc %b </dev/null;; esac; } 2>/dev/null'
    b" | sed -n 's/^tservice://p' | tail -n 1 | grep . || printf '%%s\\n' \"$PATH\""
) % (_SAY_PATH, _SAY_PATH)

_FOLDERS = (
    b'for tservice_d in %b; do [ -d "$tservice_d" ] && printf \'%%s:\' "$tservice_d"; done; echo'
) % format_shell_patterns().encode()

FACTS_COMMAND = join_shell_commands(
    b'id -un; id -u; printf \'%s\\n\' "$HOME" "${SHELL:-/bin/sh}"',
    _LOGIN_PATH,
    b"tmux -V 2>/dev/null || echo none",
    _FOLDERS,
)
"""Command line to run on a host. L{parse_facts} parses its output."""


def parse_facts(out: bytes) -> HostFacts:
    """Parse the output of L{FACTS_COMMAND}.

    @raise RemoteError: the output is invalid.
    """
    lines = out.decode("utf-8", "replace").split("\n")
    if len(lines) < 7 or not _UID.fullmatch(lines[1]) or not lines[2].startswith("/"):
        raise RemoteError("the host has no usable POSIX shell")
    if max(map(len, lines[:7])) > MAX_FACT_LENGTH:
        raise RemoteError(f"the host reports a value of more than {MAX_FACT_LENGTH} characters")
    user, uid, home, shell, path, tmux, folders = lines[:7]
    version = tmux.removeprefix("tmux ").strip()
    return HostFacts(
        user=user,
        uid=int(uid),
        home=home,
        shell=shell,
        path=join_path(path, *sort_program_folders(folders.split(":"), home)),
        tmux=None if version == "none" else version,
    )


Explain = Callable[[RemoteHost, str], Awaitable[str]]


@define(eq=False)
class HostLink:
    """Access to one host: its connection, the service that wakes it, and its command runner."""

    host: RemoteHost
    connection: HostConnection
    waker: HostWakeService
    runner: RemoteRunner
    preopened_channel: PreopenedChannel
    explain_failure: Callable[[str], Awaitable[str]]
    facts: HostFacts | None = None

    def close(self) -> None:
        """Close the connection and stop waking the host."""
        self.waker.close()
        self.preopened_channel.close()
        self.connection.close()

    async def fetch_facts(self, *, waking: bool = False) -> HostFacts:
        """Connect to the host if needed, and return its properties.

        @param waking: true to wake the host if it sleeps.
        @raise HostUnreachable: the host is unreachable.
        """
        try:
            await (self.waker.connect_waking() if waking else self.connection.wait_for_attempt())
        except HostUnreachable as error:
            raise HostUnreachable(await self.explain_failure(str(error))) from error
        if self.facts is None:
            try:
                answer = await self.runner.run_program(FACTS_COMMAND)
                self.facts = parse_facts(answer.out)
            except RemoteError as error:
                raise HostUnreachable(str(error)) from error
        return self.facts


async def _return_reason_unchanged(host: RemoteHost, why: str) -> str:
    return why


class HostLinks:
    """Registry of the links to all hosts, at most one for each host.

    @ivar explain_failure: returns a more detailed reason why a host was not reached.
    @param env: environment of every ssh process.
    @param find: returns the host with an id, or C{None} if there is no such host.
    @param auto_reconnect: returns true if connections reconnect automatically.
    @param waker: creates the service that wakes a host.
    @param on_new_link: called with each link that was created.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        ssh: SshCommand,
        env: Mapping[str, str],
        find: Callable[[str], RemoteHost | None],
        auto_reconnect: Callable[[], bool],
        waker: Callable[[RemoteHost, HostConnection], HostWakeService],
        on_new_link: Callable[[HostLink], object],
    ) -> None:
        self._clock = clock
        self._processes = processes
        self._ssh = ssh
        self._env = env
        self._find = find
        self._auto_reconnect = auto_reconnect
        self._waker = waker
        self._on_new_link = on_new_link
        self._links: dict[str, HostLink] = {}
        self.explain_failure: Explain = _return_reason_unchanged

    def find_or_create_link(self, host_id: str) -> HostLink | None:
        """Return the link to a host, and create it if needed. Return C{None} if the host does not
        exist.
        """
        host = self._find(host_id)
        if host is None:
            return None
        link = self._links.get(host_id)
        if link is None:
            link = self._links[host_id] = self._make_link(host)
            self._on_new_link(link)
        return link

    def list_links(self) -> Sequence[HostLink]:
        """Return the links created so far."""
        return tuple(self._links.values())

    def close_link(self, host_id: str) -> None:
        """Close the link to a host that was removed or changed, if there is one."""
        link = self._links.pop(host_id, None)
        if link is not None:
            link.close()

    def close_all_links(self) -> None:
        """Close all links."""
        for host_id in tuple(self._links):
            self.close_link(host_id)

    def _make_link(self, host: RemoteHost) -> HostLink:
        connection = HostConnection(
            self._clock, host.label, partial(self._make_master, host), self._auto_reconnect
        )
        waker = self._waker(host, connection)
        way = RemoteChannel(
            prefix=lambda: self._ssh.build_shared_command(host),
            takes_shell_text=True,
            env=self._env,
            is_open=lambda: connection.is_up,
            wait_until_ready=connection.wait_until_open,
            request_connection=waker.request_connection,
        )
        spare = PreopenedChannel(self._clock, self._processes, way.build_argv, way.env)
        far = RemoteRunner(self._clock, self._processes, evolve(way, preopened=spare))
        return HostLink(
            host, connection, waker, far, spare, lambda why: self.explain_failure(host, why)
        )

    def _make_master(self, host: RemoteHost) -> MasterConnection:
        argv, socket = self._ssh.build_master_command(host), self._ssh.get_control_socket(host)
        return SshMaster(self._clock, self._processes, argv, socket, self._env)


@frozen
class HostRunners:
    """Provider of the hosts' command runners for the multiplexer."""

    links: HostLinks

    def get_remote_end(self, place: Location) -> RemoteEnd:
        link = self.links.find_or_create_link(place.id.name)
        if link is None:
            raise MuxError(f"unknown remote host {place.id.name}")
        # The caller uses this host, so open the connection.
        link.connection.connect_unless_attempted()
        return link.runner

    def list_remote_ends(self) -> Sequence[RemoteEnd]:
        return [link.runner for link in self.links.list_links()]
