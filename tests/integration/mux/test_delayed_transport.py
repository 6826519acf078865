"""A place whose way is long: what is asked is answered later, or not at all."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import define
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock, deferLater

from tests.integration.mux.harness import (
    CAPACITY,
    TMUX,
    RecordingPaneListener,
    TmuxTestCase,
    logged_output,
)
from tests.runtime_harness import HERE, own_setups
from tservice.mux.interface import Liveness, MuxError, MuxTimeout
from tservice.mux.local_transport import LocalTransport
from tservice.mux.tmux.control_client import ControlClient
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import ChildSpec, HeldProcess, ServerReachability

LATE = 0.05
"""Seconds that each answer takes."""


@define
class LateTransport:
    """Twisted transport on this machine, delayed as if it were far away.

    @ivar cut: nothing is known of what is there.
    @ivar asked: questions so far.
    """

    clock: Clock
    near: LocalTransport
    cut: bool = False
    asked: int = 0

    def build_child(
        self, socket_path: Path, arguments: Sequence[str], env: Mapping[bytes, bytes]
    ) -> ChildSpec:
        return self.near.build_child(socket_path, arguments, env)

    async def wait_until_ready(self) -> None:
        """Nothing is known of the way."""

    def request_connection(self) -> None:
        """It is not tried."""

    def late(self) -> Deferred[None]:
        """Fires when an answer has come so far."""
        return deferLater(self.clock, LATE)

    async def check_reachability(self, socket_path: Path) -> ServerReachability:
        self.asked += 1
        await self.late()
        return (
            ServerReachability.UNKNOWN
            if self.cut
            else await self.near.check_reachability(socket_path)
        )

    async def acquire_process(self, pid: int) -> HeldProcess | None:
        await self.late()
        return await self.near.acquire_process(pid)

    async def acquire_server(self, socket_path: Path) -> HeldProcess | None:
        await self.late()
        return None if self.cut else await self.near.acquire_server(socket_path)


class LateMultiplexerTests(TmuxTestCase):
    """The real tmux behind such a way."""

    def setUp(self) -> None:
        super().setUp()
        near = LocalTransport(TMUX, shutil.which("setpriv"))
        self.transport = LateTransport(self.clock, near)
        self.mux = self.late()

    def late(self) -> TmuxMultiplexer:
        """A service that goes this way."""
        mux = TmuxMultiplexer(
            self.clock,
            reactor,
            own_setups(self.transport, SocketFolder(self.folder)),
            token=lambda: os.urandom(8).hex(),
            capacity=CAPACITY,
        )
        self.muxes.append(mux)
        return mux

    async def test_slow_transport_session_is_created_adopted_and_killed(self) -> None:
        spec = self.spec()
        pane = await self.mux.create_pane(spec)
        with self.assertRaises(MuxError):
            await self.mux.create_pane(spec)
        await self.until(lambda: logged_output(pane).endswith(b"$ "), "the prompt")
        pid = pane.pid
        await self.mux.close()
        again = await self.late().adopt_pane(pane.session_id, HERE)
        assert again is not None
        self.assertEqual(pid, again.pid)
        await again.kill()
        self.assertIsNone(await self.mux.adopt_pane(pane.session_id, HERE))
        self.assertEqual(frozenset(), await self.mux.find_session_ids())

    async def test_unreachable_pane_is_not_considered_dead(self) -> None:
        """While the way is cut a client that ends is replaced; the pane is not given up."""
        pane, heard = await self.mux.create_pane(self.spec()), RecordingPaneListener()
        pane.add_listener(heard)
        self.transport.cut = True
        with self.assertRaises(MuxTimeout):
            await self.late().adopt_pane(pane.session_id, HERE)
        asked = self.transport.asked
        self.end_client(pane.link._current)
        await self.until(lambda: self.transport.asked > asked, "a question")
        self.assertIs(Liveness.ALIVE, await pane.probe_process())
        self.assertEqual((0, []), (heard.lost, heard.exits))

    async def test_lost_session_is_reported_once_it_is_known(self) -> None:
        pane, heard = await self.mux.create_pane(self.spec()), RecordingPaneListener()
        pane.add_listener(heard)
        self.transport.cut = True
        asked = self.transport.asked
        os.kill(await self.server_pid(pane), signal.SIGKILL)
        await self.until(lambda: self.transport.asked > asked + 1, "questions")
        self.assertEqual(0, heard.lost)
        self.transport.cut = False
        await self.until(lambda: heard.lost, "the loss")
        self.assertEqual([], heard.exits)

    async def test_close_during_a_probe_keeps_the_session_adoptable(self) -> None:
        pane = await self.mux.create_pane(self.spec())
        self.end_client(pane.link._current)
        asked = self.transport.asked
        await self.until(lambda: self.transport.asked > asked, "a question")
        await self.mux.close()
        again = await self.late().adopt_pane(pane.session_id, HERE)
        assert again is not None
        self.assertIs(Liveness.ALIVE, await again.probe_process())

    def end_client(self, client: ControlClient | None) -> None:
        """As a cut connection does."""
        assert client is not None
        client.kill_process()
