"""Multiplexer that runs every session's pane on its own tmux server (architecture-mux)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from twisted.internet.defer import Deferred, TimeoutError, gatherResults
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from tservice.core.locations.location import Location, LocationKind
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    IMultiplexer,
    MuxError,
    MuxTimeout,
    PaneSpec,
)
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux.control_client import CommandRefused, ControlClient
from tservice.mux.tmux.control_parser import AnswerBlock
from tservice.mux.tmux.pane import TmuxPane
from tservice.mux.tmux.server import TmuxServer
from tservice.mux.tmux.setup import ServerSetup, ServerSetups
from tservice.mux.transport import ServerReachability


@implementer(IMultiplexer)
class TmuxMultiplexer:
    """Multiplexer that creates and adopts panes on tmux servers.

    @param processes: the reactor, which starts the client processes.
    @param setups: server setups by kind of location.
    @param token: returns a new unguessable word of letters and digits. It authenticates a pane's
        keeper, or names the epoch of a log.
    @param capacity: bytes that each pane's L{OutputLog} keeps.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        processes: IReactorProcess,
        setups: Mapping[LocationKind, ServerSetups],
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

    async def create_pane(self, spec: PaneSpec) -> TmuxPane:
        """Start a pane as described by C{spec}. Return once its program runs.

        @raise MuxError: the program or its folder is missing, or a server of that session runs.
        """
        setup = await self._get_setup(spec.place)
        server = self._build_server(spec.session_id, setup)
        await server.prepare_start()
        preface = await server.put_preface(spec)
        pane, token = self._build_pane(spec.session_id, server), self._token().encode()
        client = pane.link.new_client()
        server.start_server(client, spec, token, preface)
        try:
            await self._wait_until_attached(client)
            await pane.wait_until_started(client, token, (spec.cols, spec.rows))
        except MuxError as error:
            client.kill_process()
            # On a remote host, another server of that session may have been in the way.
            if client.is_session_free or not setup.refuses_duplicates:
                await self._remove_failed_pane(pane)
            else:
                await pane.detach_service()
            why = await server.explain_failed_start()
            said = error if why is None else f"{why} ({error})"
            program = shlex.join(spec.argv[:1])
            raise type(error)(f"cannot run {program} in {spec.cwd}: {said}") from error
        await self._register_pane(pane)
        return pane

    async def adopt_pane(self, session_id: str, place: Location) -> TmuxPane | None:
        """Attach to the session's running pane. If its server is gone, remove the socket and return
        C{None}.

        @raise MuxTimeout: a server exists but does not answer.
        """
        server = self._build_server(session_id, await self._get_setup(place))
        pane, client = self._pop_attaching_client(session_id) or await self._attach_client(
            session_id, server
        )
        if pane is None or client is None:
            return None
        try:
            await self._wait_until_attached(client)
        except MuxTimeout:
            self._attaching[session_id] = (pane, client)
            raise
        except CommandRefused:
            if await server.check_reachability() is ServerReachability.GONE:
                return None
            raise
        try:
            await pane.adopt_existing(client)
        except MuxError:
            await pane.detach_service()
            raise
        await self._register_pane(pane)
        return pane

    def _pop_attaching_client(self, session_id: str) -> tuple[TmuxPane, ControlClient] | None:
        found = self._attaching.pop(session_id, None)
        return None if found is None or found[1].has_ended else found

    async def _attach_client(
        self, session_id: str, server: TmuxServer
    ) -> tuple[TmuxPane, ControlClient] | tuple[None, None]:
        reach = await server.check_reachability()
        if reach is ServerReachability.GONE:
            await server.remove_socket()
            return None, None
        if reach is ServerReachability.UNKNOWN:
            raise MuxTimeout(f"the tmux server of {session_id} cannot be reached")
        pane = self._build_pane(session_id, server)
        client = pane.link.new_client()
        server.attach_client(client)
        return pane, client

    async def find_session_ids(self) -> frozenset[str]:
        names: frozenset[str] = frozenset()
        for setups in self._setups.values():
            names |= await setups.find_session_ids()
        return names

    async def close(self) -> None:
        panes, self._panes = self._panes, {}
        attaching, self._attaching = self._attaching, {}
        for _, client in attaching.values():
            client.kill_process()
        await gatherResults(
            [Deferred.fromCoroutine(pane.detach_service()) for pane in panes.values()]
        )

    async def _get_setup(self, place: Location) -> ServerSetup:
        setups = self._setups.get(place.id.kind)
        if setups is None:
            raise MuxError(f"this service runs no panes in {place.title}")
        return await setups.get_setup(place)

    def _build_server(self, session_id: str, setup: ServerSetup) -> TmuxServer:
        return TmuxServer(self._clock, self._processes, setup, session_id)

    def _build_pane(self, session_id: str, server: TmuxServer) -> TmuxPane:
        log = OutputLog(self._capacity, self._token(), self._count_output)
        return TmuxPane(session_id, self._clock, log, server)

    def _count_output(self, size: int) -> None:
        self.output_bytes += size

    async def _register_pane(self, pane: TmuxPane) -> None:
        gone = [name for name, held in self._panes.items() if held.link.is_closed]
        for name in gone:
            del self._panes[name]
        before = self._panes.get(pane.session_id)
        if before is not None:
            await before.detach_service()
        self._panes[pane.session_id] = pane

    async def _wait_until_attached(self, client: ControlClient) -> None:
        """Wait until C{client} is attached to its server. After a L{MuxTimeout}, this may be called
        again.
        """
        waiter: Deferred[None] = Deferred()

        def handle_attached(block: AnswerBlock) -> AnswerBlock:
            if not waiter.called:
                waiter.callback(None)
            return block

        def handle_refused(why: Failure) -> None:
            if not waiter.called:
                waiter.errback(why)

        client.ready.addCallbacks(handle_attached, handle_refused)
        try:
            await waiter.addTimeout(COMMAND_TIMEOUT, self._clock)
        except TimeoutError as error:
            raise MuxTimeout("the tmux server does not answer") from error

    async def _remove_failed_pane(self, pane: TmuxPane) -> None:
        try:
            await pane.kill()
        except MuxError as error:
            self._log.warn("a pane that failed to start could not be removed: {error}", error=error)
            await pane.detach_service()
