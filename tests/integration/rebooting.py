"""A machine that goes down, as far as the daemon can tell: every pane is gone at once, and the boot
has another name.

The name is either in a file that the daemon is told of, or stands where the kernel's own does, in a
mount namespace of the daemon's; that takes root.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from pathlib import Path

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.integration.mount_namespace import MountNamespace

KERNEL = Path("/proc/sys/kernel/random/boot_id")
TRIAL = ("--bind", "/etc/hostname", str(KERNEL))
"""Whether the kernel's own file can be played."""


class RebootDaemon(DaemonHarness):
    """A daemon on a machine that can be rebooted.

    @ivar boots: how often it came up.
    """

    def __init__(self, **environment: str) -> None:
        super().__init__(**environment)
        self.boot_id = self.folder / "boot_id"
        self.environment["SERVICE_BOOT_ID_FILE"] = str(self.boot_id)
        self.boots = 0
        self.name_boot()

    def name_boot(self) -> None:
        """The machine comes up."""
        self.boots += 1
        self.boot_id.write_text(f"00000000-0000-4000-8000-{self.boots:012}\n")

    def reboot(self, number: int = signal.SIGKILL) -> None:
        """Everything ends, the daemon by that signal, and the daemon starts on the next boot."""
        self.go_down(number)
        self.name_boot()
        self.start()

    def go_down(self, number: int = signal.SIGKILL) -> None:
        """The daemon ends by a signal, then every pane, as in a loss of power."""
        if self._child is not None and self._child.alive():
            self.stop(number)
        for socket in sorted((self.data / "mux").glob("*.sock")):
            self.end_server(socket)

    def end_server(self, socket: Path) -> None:
        """Kill a tmux server and what runs in it; its socket is left, as on a disk."""
        words = ["tmux", "-N", "-S", str(socket), "display-message", "-p", "#{pid} #{pane_pid}"]
        found = subprocess.run(
            self.wrapped(words), capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        for word in found.stdout.split():
            kill_process(int(word))


def kill_process(pid: int) -> None:
    """Kill a process and wait for its end; whoever has to collect it may take its time."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            ended, _, _ = select.select([descriptor], [], [], PATIENCE)
        finally:
            os.close(descriptor)
        if not ended:
            raise AssertionError(f"process {pid} goes on")


class NamespaceDaemon(RebootDaemon):
    """The daemon finds the name of the boot where the kernel has it."""

    def __init__(self, **environment: str) -> None:
        super().__init__(**environment)
        del self.environment["SERVICE_BOOT_ID_FILE"]
        self._mounts = MountNamespace("--bind", str(self.boot_id), str(KERNEL))

    def wrapped(self, command: list[str]) -> list[str]:
        return self._mounts.entered(command)

    def close(self) -> None:
        self.go_down()
        self._mounts.close()
        super().close()
