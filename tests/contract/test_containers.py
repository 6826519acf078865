"""The multiplexer's suite in real containers."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from tests.contract.line_contract import logged_text
from tests.contract.suite import Contract, ShellContract, TmuxHands
from tests.integration.containers.engines import DockerEngine
from tests.integration.containers.harness import ContainerTestCase
from tservice.containers import procfs

pytestmark = pytest.mark.extended


class ContainerHands(ContainerTestCase, TmuxHands):
    """What the suite needs, where processes have other numbers inside."""

    async def crash_process(self, pane: Any) -> None:
        await self.kill_inside(pane.pid)

    async def crash_server(self, pane: Any) -> None:
        await self.kill_inside(await self.server_pid(pane))

    async def output_printed(self, pane: Any) -> None:
        inside = procfs.find_host_pid(self.first, pane.pid)
        terminal = os.readlink(f"/proc/{inside}/fd/1").removeprefix("/")
        fd = os.open(f"/proc/{inside}/root/{terminal}", os.O_WRONLY | os.O_NOCTTY)
        end = pane.log.end
        os.write(fd, b".")
        os.close(fd)
        await self.until(lambda: pane.log.end > end, "the sign")

    async def stall(self, pane: Any) -> Callable[[], None]:
        pid = procfs.find_host_pid(self.first, await self.server_pid(pane))

        def go_on() -> None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(go_on)
        return go_on


class ContainerMultiplexerTests(Contract, ContainerHands):
    """In a container that has a POSIX shell and tmux."""


class DockerMultiplexerTests(ContainerMultiplexerTests):
    """The same with docker."""

    kind = DockerEngine


class BusyboxContainerTests(ShellContract, ContainerHands):
    """Where every other program is busybox, as on Alpine."""

    programs: ClassVar[dict[str, Any]] = {"programs": ("tmux", "busybox"), "shell": "busybox"}

    async def test_container_shell_is_busybox(self) -> None:
        pane, _ = await self.shell()
        await self.run_line(pane, "eval readlink /proc/$$/exe")
        await self.until(lambda: b"/busybox\r\n" in logged_text(pane), "its program")


# Or they would be collected as tests of their own.
del ContainerHands, TmuxHands, ContainerTestCase
