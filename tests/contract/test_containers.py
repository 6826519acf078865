"""The multiplexer's suite in real containers."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any

from tests.contract.suite import TmuxContract
from tests.integration.containers.harness import ContainerTestCase
from tservice.containers import kernel


class ContainerMultiplexerTests(ContainerTestCase, TmuxContract):
    """In a container that has a POSIX shell and tmux."""

    async def crash_process(self, pane: Any) -> None:
        await self.kill_inside(pane.pid)

    async def crash_server(self, pane: Any) -> None:
        await self.kill_inside(await self.server_pid(pane))

    async def printed(self, pane: Any) -> None:
        inside = kernel.number_of(self.first, pane.pid)
        terminal = os.readlink(f"/proc/{inside}/fd/1").removeprefix("/")
        fd = os.open(f"/proc/{inside}/root/{terminal}", os.O_WRONLY | os.O_NOCTTY)
        end = pane.log.end
        os.write(fd, b".")
        os.close(fd)
        await self.until(lambda: pane.log.end > end, "the sign")

    async def stall(self, pane: Any) -> Callable[[], None]:
        pid = kernel.number_of(self.first, await self.server_pid(pane))

        def go_on() -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(go_on)
        return go_on


del TmuxContract, ContainerTestCase  # or they would be collected as tests of their own
