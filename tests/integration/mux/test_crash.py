"""The service is killed, by SIGKILL, while a pane prints."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

import tservice
from tests.integration.mux.harness import TmuxTestCase
from tests.runtime_harness import HERE
from tservice.mux.interface import Liveness

ID = "0a1b2c3d-0000-4000-8000-00000000000b"


class KilledServiceProcess(ProcessProtocol):
    """The service that is to be killed."""

    def __init__(self) -> None:
        self.up: Deferred[None] = Deferred()
        self.ended: Deferred[None] = Deferred()

    def outReceived(self, data: bytes) -> None:
        self.up.callback(None)

    def processEnded(self, reason: Failure) -> None:
        self.ended.callback(None)


class ControlClientCrashTests(TmuxTestCase):
    async def crashed(self, setpriv: str, *, early: bool = False) -> None:
        """Kill a service; the pane must be adopted, go on printing, and end."""
        service = KilledServiceProcess()
        module = "tests.integration.mux.crashing"
        argv = [sys.executable, "-m", module, str(self.folder), ID, setpriv]
        root = str(Path(tservice.__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": root}
        process = reactor.spawnProcess(service, sys.executable, argv, env, root)
        await service.up
        try:
            if early:
                self.forget()
        finally:
            process.signalProcess(signal.SIGKILL)
            await service.ended
        pane = await self.mux.adopt_pane(ID, HERE)
        assert pane is not None
        await self.until(lambda: pane.log.end > 1_000_000, "the flood")
        self.assertIs(Liveness.ALIVE, await pane.probe_process())
        await self.until_alone(pane)
        await pane.kill()
        self.assertEqual(frozenset(), await self.mux.find_session_ids())

    def forget(self) -> None:
        """As if the service had been killed before it asked the server for anything."""
        [socket] = self.folder.rglob("*.sock")
        words = ("set-option", "-p", "-q", "-u", "-t", "%0", "@tservice_client")
        argv = [shutil.which("tmux") or "tmux", "-N", "-S", str(socket), *words]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    async def test_unrecorded_client_is_ended(self) -> None:
        await self.crashed("", early=True)

    async def test_tmux_client_ends_with_the_service(self) -> None:
        await self.crashed(shutil.which("setpriv") or "")

    async def test_surviving_client_is_ended_by_the_next_service(self) -> None:
        await self.crashed("")
