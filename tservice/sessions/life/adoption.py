"""Adopts panes that kept running while the service was down.

A pane whose state is unknown is not changed (protocol-status).
"""

from __future__ import annotations

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.mux.interface import IMultiplexer
from tservice.sessions.life.processes import SessionProcesses
from tservice.sessions.live_session import LiveSession
from tservice.sessions.record.model import ProcessPhase
from tservice.sessions.registry import SessionRegistry

RETRY = 5.0
"""Seconds until a server that did not answer is queried again."""


class PaneAdoption:
    """Adopts running panes, records ended ones, and keeps querying servers that do not answer.

    A server without a session record is logged and left running. It may belong to a database that
    an operator is about to restore, and its processes could not be recovered.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        mux: IMultiplexer,
        roster: SessionRegistry,
        processes: SessionProcesses,
    ) -> None:
        self._clock = clock
        self._mux = mux
        self._roster = roster
        self._processes = processes
        self._timer: IDelayedCall | None = None
        self._asking: Deferred[None] | None = None
        self._closed = False

    async def adopt_all(self) -> None:
        """Attach each session to its running pane, or record that its process has ended.

        Sessions whose server does not answer are tried again later.
        """
        known = {live.record.id for live in self._roster}
        for unknown in sorted(await self._mux.find_session_ids() - known):
            self._log.warn("left running: a multiplexer server without a session, {id}", id=unknown)
        await self._resolve_unknown_sessions()

    def close(self) -> None:
        """Stop querying servers."""
        self._closed = True
        cancel_call(self._timer)
        if self._asking is not None:
            self._asking.cancel()

    async def _resolve_unknown_sessions(self) -> None:
        unknown = [live for live in self._roster if live.lifecycle.phase is ProcessPhase.UNKNOWN]
        known = await gatherResults(
            [spawn_logged(self._resolve_unknown_phase(it), self._log, "adopting") for it in unknown]
        )
        if not all(known) and not self._closed:
            self._timer = self._clock.callLater(RETRY, self._start_query_again)

    async def _resolve_unknown_phase(self, live: LiveSession) -> bool:
        return await self._processes.resolve_unknown_phase(live)

    def _start_query_again(self) -> None:
        self._asking = spawn_logged(
            self._resolve_unknown_sessions(), self._log, "querying running sessions again"
        )
