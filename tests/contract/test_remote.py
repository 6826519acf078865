"""The suite on tmux at the far end of a real ssh connection."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve, frozen
from twisted.internet import reactor

from tests.contract.line_contract import logged_text
from tests.contract.suite import Contract, ShellContract, TmuxHands
from tests.integration.mux.harness import CAPACITY, TMUX
from tests.sshd import SshServer, children_read
from tests.waiting import wait_until
from tservice.core.locations.location import Location, LocationId, LocationKind
from tservice.core.locations.location_registry import LocationRegistry
from tservice.mux.interface import PaneSpec
from tservice.mux.remote.runner import RemoteChannel, RemoteEnd, RemoteRunner
from tservice.mux.remote.setup import RemoteSetups
from tservice.mux.tmux.multiplexer import TmuxMultiplexer


@frozen
class OneFar:
    """The only way."""

    far: RemoteEnd

    def get_remote_end(self, place: Location) -> RemoteEnd:
        return self.far

    def list_remote_ends(self) -> Sequence[RemoteEnd]:
        return [self.far]


class FarHands(TmuxHands):
    """A server of its own for the class; each test is a session on one connection."""

    pane_place = LocationRegistry({}).find_earlier_location(
        LocationId(kind=LocationKind.REMOTE, name="h")
    )
    far_folder: Path
    sshd: SshServer

    @classmethod
    def setUpClass(cls) -> None:
        cls.far_folder = Path(tempfile.mkdtemp(prefix="fs-"))
        cls.sshd = SshServer(cls.far_folder, **cls.environment(cls.far_folder))

    @classmethod
    def environment(cls, folder: Path) -> dict[str, str]:
        """Variables of whoever signs in there."""
        folder = folder / "bin"
        folder.mkdir()
        (folder / "tmux").symlink_to(TMUX)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    @classmethod
    def tearDownClass(cls) -> None:
        words = cls.sshd.ssh(cls.far_folder / "c")
        subprocess.run([*words[:-1], "-O", "exit", words[-1]], check=False, capture_output=True)
        cls.sshd.close()
        # It takes its socket away itself, a moment after it was told to end.
        wait_until("the end of the connection", lambda: not (cls.far_folder / "c").exists())
        shutil.rmtree(cls.far_folder)

    def multiplexer(self) -> TmuxMultiplexer:
        way = RemoteChannel(
            prefix=lambda: self.sshd.ssh(self.far_folder / "c"),
            takes_shell_text=True,
            env={"PATH": os.environ["PATH"]},
        )
        mux = TmuxMultiplexer(
            self.clock,
            reactor,
            {LocationKind.REMOTE: RemoteSetups(OneFar(RemoteRunner(self.clock, reactor, way)))},
            token=lambda: secrets.token_hex(8),
            capacity=CAPACITY,
        )
        self.muxes.append(mux)
        return mux

    async def clean(self) -> None:
        await super().clean()
        # An ssh that was given up ends a moment later.
        await self.until(lambda: not children_read(reactor), "the end of every child")
        self.sshd.sweep()


class SshMultiplexerTests(Contract, FarHands):
    """The usual commands and shell."""


@pytest.mark.extended
class BusyboxMultiplexerTests(ShellContract, FarHands):
    """Where every command of the shell's, itself included, is busybox, as on Alpine."""

    @classmethod
    def environment(cls, folder: Path) -> dict[str, str]:
        found = super().environment(folder)
        program = shutil.which("busybox")
        assert program is not None, "busybox is not installed"
        listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True)
        for name in listed.stdout.split():
            (folder / "bin" / name).symlink_to(program)
        return {**found, "PATH": str(folder / "bin")}

    def spec(self, *argv: str, **more: object) -> PaneSpec:
        found = super().spec(*argv, **more)
        return evolve(found, env={**found.env, "PATH": str(self.far_folder / "bin")})

    async def test_remote_shell_is_busybox(self) -> None:
        pane, _ = await self.shell()
        await self.run_line(pane, "eval readlink /proc/$$/exe")
        await self.until(lambda: b"busybox\r\n" in logged_text(pane), "its program")


del FarHands, TmuxHands
