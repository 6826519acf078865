"""The ways to all hosts, each made when it is wanted and owned here."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from attrs import define, evolve, frozen
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.core.places.place import Place
from tservice.core.process.programfolders import join_path, ordered_folders, shell_words
from tservice.hosts.argv import Ssh
from tservice.hosts.connection import CannotConnect, Connection, IMaster
from tservice.hosts.master import Master
from tservice.hosts.model import RemoteHost
from tservice.hosts.waking import Waker
from tservice.mux.far.runner import Far, FarError, IFar, Way
from tservice.mux.far.shell import line, quote
from tservice.mux.far.spare import Spare
from tservice.mux.interface import MuxError

LOGIN_SECONDS = 5
LONGEST = 16 * 1024
"""Characters of one thing that is known of a host; a PATH has some hundreds."""
_UID = re.compile(r"[0-9]{1,10}")


@frozen(kw_only=True)
class Facts:
    """What a host is like.

    @ivar tmux: the version of its tmux; C{None}: it has none.
    @ivar path: where programs are: as its login shell has it, then the usual folders there.
    """

    user: str
    uid: int
    home: str
    shell: str
    path: str
    tmux: str | None


_SAY_PATH = quote(b"exec sh -c 'echo; echo tservice:\"$PATH\"'")
"""For a login shell of any kind, which may print whatever it likes before."""

_LOGIN_PATH = (
    b"tservice_sh=${SHELL:-/bin/sh}; { case $tservice_sh in "
    # Those take -l as their only option.
    b'*csh) echo %b | "$tservice_sh" -l;; '
    b'*) "$tservice_sh" -lc %b </dev/null;; esac; } 2>/dev/null'
    b" | sed -n 's/^tservice://p' | tail -n 1 | grep . || printf '%%s\\n' \"$PATH\""
) % (_SAY_PATH, _SAY_PATH)

_FOLDERS = (
    b'for tservice_d in %b; do [ -d "$tservice_d" ] && printf \'%%s:\' "$tservice_d"; done; echo'
) % shell_words().encode()

ASK = line(
    b'id -un; id -u; printf \'%s\\n\' "$HOME" "${SHELL:-/bin/sh}"',
    _LOGIN_PATH,
    b"tmux -V 2>/dev/null || echo none",
    _FOLDERS,
)
"""A line that prints what L{facts_in} reads."""


def facts_in(out: bytes) -> Facts:
    """@raise FarError: it is no such answer."""
    lines = out.decode("utf-8", "replace").split("\n")
    if len(lines) < 7 or not _UID.fullmatch(lines[1]) or not lines[2].startswith("/"):
        raise FarError("it has no POSIX shell that could be asked")
    if max(map(len, lines[:7])) > LONGEST:
        raise FarError(f"it says more than {LONGEST} characters of itself")
    user, uid, home, shell, path, tmux, folders = lines[:7]
    version = tmux.removeprefix("tmux ").strip()
    return Facts(
        user=user,
        uid=int(uid),
        home=home,
        shell=shell,
        path=join_path(path, *ordered_folders(folders.split(":"), home)),
        tmux=None if version == "none" else version,
    )


Explain = Callable[[RemoteHost, str], Awaitable[str]]


@define(eq=False)
class Link:
    """One host's."""

    host: RemoteHost
    connection: Connection
    waker: Waker
    far: Far
    spare: Spare
    explain: Callable[[str], Awaitable[str]]
    facts: Facts | None = None

    def close(self) -> None:
        """End the way there."""
        self.waker.close()
        self.spare.close()
        self.connection.close()

    async def ask(self, *, waking: bool = False) -> Facts:
        """Have it connected and known.

        @param waking: it is woken where it sleeps.
        @raise CannotConnect: it is out of reach.
        """
        try:
            await (self.waker.reach() if waking else self.connection.connected())
        except CannotConnect as error:
            raise CannotConnect(await self.explain(str(error))) from error
        if self.facts is None:
            try:
                answer = await self.far.run(ASK)
                self.facts = facts_in(answer.out)
            except FarError as error:
                raise CannotConnect(str(error)) from error
        return self.facts


async def _as_it_is(host: RemoteHost, why: str) -> str:
    return why


class Links:
    """All of them.

    @ivar explain: says better why a host was not reached.

    @param env: the environment of every ssh.
    @param find: the host of an id; C{None}: there is none.
    @param by_itself: whether connections are made anew by themselves.
    @param waker: makes what wakes a host.
    @param made: told of each new one.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        clock: IReactorTime,
        processes: IReactorProcess,
        ssh: Ssh,
        env: Mapping[str, str],
        find: Callable[[str], RemoteHost | None],
        by_itself: Callable[[], bool],
        waker: Callable[[RemoteHost, Connection], Waker],
        made: Callable[[Link], object],
    ) -> None:
        self._clock = clock
        self._processes = processes
        self._ssh = ssh
        self._env = env
        self._find = find
        self._by_itself = by_itself
        self._waker = waker
        self._made = made
        self._links: dict[str, Link] = {}
        self.explain: Explain = _as_it_is

    def of(self, host_id: str) -> Link | None:
        """That of a host, made where there is none; C{None}: there is no such host."""
        host = self._find(host_id)
        if host is None:
            return None
        link = self._links.get(host_id)
        if link is None:
            link = self._links[host_id] = self._make(host)
            self._made(link)
        return link

    def known(self) -> Sequence[Link]:
        """Those that were wanted so far."""
        return tuple(self._links.values())

    def drop(self, host_id: str) -> None:
        """End that of a host, which is gone or different now."""
        link = self._links.pop(host_id, None)
        if link is not None:
            link.close()

    def close(self) -> None:
        """End them all."""
        for host_id in tuple(self._links):
            self.drop(host_id)

    def _make(self, host: RemoteHost) -> Link:
        connection = Connection(
            self._clock, host.label, partial(self._master, host), self._by_itself
        )
        waker = self._waker(host, connection)
        way = Way(
            prefix=lambda: self._ssh.shared(host),
            spoken=True,
            env=self._env,
            open=lambda: connection.up,
            ready=connection.ready,
            wanted=waker.wanted,
        )
        spare = Spare(self._clock, self._processes, way.argv, way.env)
        far = Far(self._clock, self._processes, evolve(way, spare=spare))
        return Link(host, connection, waker, far, spare, lambda why: self.explain(host, why))

    def _master(self, host: RemoteHost) -> IMaster:
        argv, socket = self._ssh.master(host), self._ssh.socket(host)
        return Master(self._clock, self._processes, argv, socket, self._env)


@frozen
class FarsOfHosts:
    """For the multiplexer."""

    links: Links

    def of(self, place: Place) -> IFar:
        link = self.links.of(place.id.name)
        if link is None:
            raise MuxError(f"there is no remote host {place.id.name}")
        # What asks has something there, or wants to: the way is worth being open.
        link.connection.begin()
        return link.far

    def known(self) -> Sequence[IFar]:
        return [link.far for link in self.links.known()]
