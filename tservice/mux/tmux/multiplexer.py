"""Multiplexer that runs every session's pane on its own tmux server (architecture-mux)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from twisted.internet.defer import Deferred, TimeoutError, gatherResults
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.places.location import Location, LocationKind
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    IMultiplexer,
    MuxError,
    MuxTimeout,
    PaneSpec,
)
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.client import CommandRefused, ControlClient
from tservice.mux.tmux.control import Block
from tservice.mux.tmux.pane import TmuxPane
from tservice.mux.tmux.server import TmuxServer
from tservice.mux.tmux.setup import ISetup, Setups
from tservice.mux.transport import Reachability


@implementer(IMultiplexer)
class TmuxMultiplexer:
    """Multiplexer that starts, finds and releases panes.

    @param processes: starts clients; a reactor, like C{clock}.
    @param setups: for each kind of place, how tmux runs in places of that kind.
    @param token: returns a fresh unguessable word of letters and digits; names a pane's keeper and
        the epoch of a log.
    @param capacity: bytes that each pane's L{OutputLog} keeps.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        setups: Mapping[LocationKind, Setups],
        *,
        token: Callable[[], str],
        capacity: int,
    ) -> None:
        self._clock = clock
        self._processes = processes
        self._setups = dict(setups)
        self._token = token
        self._capacity = capacity
        self.output_bytes = 0
        self._panes: dict[str, TmuxPane] = {}
        # A stalled server processes all waiting clients when it recovers, and tmux 3.3a crashes
        # over two of them. So a client that waits there is reused, not replaced.
        self._attaching: dict[str, tuple[TmuxPane, ControlClient]] = {}

    async def create(self, spec: PaneSpec) -> TmuxPane:
        """Start C{spec}; its program runs when this returns.

        @raise MuxError: the program or its folder is missing, or a server of that session runs.
        """
        setup = await self._setup(spec.place)
        server = self._server(spec.session_id, setup)
        await server.make_way()
        preface = await server.put_preface(spec)
        pane, token = self._pane(spec.session_id, server), self._token().encode()
        client = pane.link.new_client()
        server.start(client, spec, token, preface)
        try:
            await self._ready(client)
            await pane.begin(client, token, (spec.cols, spec.rows))
        except MuxError as error:
            client.kill()
            # On a remote host, another server of that session may have been in the way.
            if client.free or not setup.refuses:
                await self._undo(pane)
            else:
                await pane.let_go()
            why = await server.trouble()
            said = error if why is None else f"{why} ({error})"
            program = shlex.join(spec.argv[:1])
            raise type(error)(f"cannot run {program} in {spec.cwd}: {said}") from error
        await self._hold(pane)
        return pane

    async def adopt(self, session_id: str, place: Location) -> TmuxPane | None:
        """Adopt the running pane. A stale socket is removed.

        @raise MuxTimeout: a server exists but does not answer.
        """
        server = self._server(session_id, await self._setup(place))
        pane, client = self._waiting(session_id) or await self._attach(session_id, server)
        if pane is None or client is None:
            return None
        try:
            await self._ready(client)
        except MuxTimeout:
            self._attaching[session_id] = (pane, client)
            raise
        except CommandRefused:
            if await server.reach() is Reachability.GONE:
                return None
            raise
        try:
            await pane.adopt(client)
        except MuxError:
            await pane.let_go()
            raise
        await self._hold(pane)
        return pane

    def _waiting(self, session_id: str) -> tuple[TmuxPane, ControlClient] | None:
        found = self._attaching.pop(session_id, None)
        return None if found is None or found[1].ended else found

    async def _attach(
        self, session_id: str, server: TmuxServer
    ) -> tuple[TmuxPane, ControlClient] | tuple[None, None]:
        reach = await server.reach()
        if reach is Reachability.GONE:
            await server.clear()
            return None, None
        if reach is Reachability.UNKNOWN:
            raise MuxTimeout(f"the tmux server of {session_id} cannot be reached")
        pane = self._pane(session_id, server)
        client = pane.link.new_client()
        server.attach(client)
        return pane, client

    async def found(self) -> frozenset[str]:
        names: frozenset[str] = frozenset()
        for setups in self._setups.values():
            names |= await setups.found()
        return names

    async def close(self) -> None:
        panes, self._panes = self._panes, {}
        attaching, self._attaching = self._attaching, {}
        for _, client in attaching.values():
            client.kill()
        await gatherResults([Deferred.fromCoroutine(pane.let_go()) for pane in panes.values()])

    async def _setup(self, place: Location) -> ISetup:
        setups = self._setups.get(place.id.kind)
        if setups is None:
            raise MuxError(f"this service runs no panes in {place.title}")
        return await setups.of(place)

    def _server(self, session_id: str, setup: ISetup) -> TmuxServer:
        return TmuxServer(self._clock, self._processes, setup, session_id)

    def _pane(self, session_id: str, server: TmuxServer) -> TmuxPane:
        log = OutputLog(self._capacity, self._token(), self._count)
        return TmuxPane(session_id, self._clock, log, server)

    def _count(self, size: int) -> None:
        self.output_bytes += size

    async def _hold(self, pane: TmuxPane) -> None:
        gone = [name for name, held in self._panes.items() if held.link.over]
        for name in gone:
            del self._panes[name]
        before = self._panes.get(pane.session_id)
        if before is not None:
            await before.let_go()
        self._panes[pane.session_id] = pane

    async def _ready(self, client: ControlClient) -> None:
        """Wait until C{client} is attached. After a L{MuxTimeout} it may be awaited again."""
        waiter: Deferred[None] = Deferred()

        def attached(block: Block) -> Block:
            if not waiter.called:
                waiter.callback(None)
            return block

        def refused(why: Failure) -> None:
            if not waiter.called:
                waiter.errback(why)

        client.ready.addCallbacks(attached, refused)
        try:
            await waiter.addTimeout(COMMAND_TIMEOUT, self._clock)
        except TimeoutError as error:
            raise MuxTimeout("the tmux server does not answer") from error

    async def _undo(self, pane: TmuxPane) -> None:
        try:
            await pane.kill()
        except MuxError as error:
            self._log.warn("a pane that failed to start could not be removed: {error}", error=error)
            await pane.let_go()
