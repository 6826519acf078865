"""Tests for the quarters of OS users, and the way to them."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.osuserworld import OsUserWorld
from tservice.core.users.keyring import fresh_keyring
from tservice.core.users.osuser import not_here
from tservice.core.users.sharedfolder import SharedFolder
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.testing.multiplexer import FakeMultiplexer
from tservice.mux.tmux.keeper import PREFIX, pane_environment
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.quarters import CONFIGURATION, KEEPER, OsUserQuarters
from tservice.mux.tmux.server import Server, environment
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import LocalTransport, OsUserTransport, Reach

ID = "0a1b2c3d-0000-4000-8000-00000000000a"


class QuartersCase(SynchronousTestCase):
    def setUp(self) -> None:
        # Short, for a socket's path.
        self.folder = Path(tempfile.mkdtemp(prefix="ts-", dir="/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.world = OsUserWorld(self.folder)
        user = self.world.add("me", os.getuid())
        self.user = evolve(user, gid=os.getgid())
        self.shared = SharedFolder(Path("/data"), self.folder / "s")

    def quarters(self, *pythons: str) -> OsUserQuarters:
        return OsUserQuarters(
            users=self.world.users,
            shared=self.shared,
            tmux="/t",
            setpriv="/p",
            setsid="/s",
            pythons=pythons or (sys.executable,),
        )


class QuartersTests(QuartersCase):
    def test_files_that_everybody_can_read(self) -> None:
        found = self.quarters("/none", sys.executable).of(self.user)
        self.assertEqual(sys.executable, found.python)
        for copy, original in ((found.keeper, KEEPER), (found.configuration, CONFIGURATION)):
            self.assertEqual(self.shared.path, copy.parent)
            self.assertEqual(original.read_bytes(), copy.read_bytes())
            self.assertEqual(0o644, copy.stat().st_mode & 0o777)

    def test_what_is_before_the_change_of_user(self) -> None:
        """Nothing of the pane's environment has a name that a loader or setpriv would know."""
        quarters = self.quarters().of(self.user)
        self.assertIs(fresh_keyring, quarters.apart)
        env = {"LD_AUDIT": "/evil.so", "PATH": "/p", "TERM": "t"}
        spec = PaneSpec(session_id=ID, argv=("x",), env=env, cwd="/")
        found = environment(spec, b"token", foreign=quarters.foreign)
        self.assertEqual([], [name for name in found if not name.startswith(PREFIX)])
        self.assertEqual(
            {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
            pane_environment(found),
        )
        self.assertIn(b"LD_AUDIT", environment(spec, b"token"))

    def test_a_start_that_the_system_refuses(self) -> None:
        class Processes:
            def spawnProcess(self, *args: object, **more: object) -> None:
                raise PermissionError(1, "not today")

        processes: Any = Processes()
        quarters = evolve(self.quarters().of(self.user), apart=nullcontext)
        server = Server(Clock(), processes, quarters, ID)
        client: Any = None
        error = self.assertRaises(MuxError, server.attach, client)
        self.assertEqual("/s cannot be started: not today", str(error))

    def test_no_interpreter(self) -> None:
        error = self.assertRaises(MuxError, self.quarters("/none").of, self.user)
        self.assertEqual("me can run none of /none", str(error))

    def test_no_place(self) -> None:
        (self.folder / "s").write_text("in the way")
        error = self.assertRaises(MuxError, self.quarters().of, self.user)
        self.assertIn("nothing can be put in place for me", str(error))

    def test_sockets(self) -> None:
        """In a folder of the user's; all of them are found, nothing else is taken for one."""
        quarters = self.quarters()
        self.assertEqual(frozenset(), quarters.found())
        folder = quarters.of(self.user).folder
        folder.prepare()
        self.assertEqual(self.shared.folder_of(self.user), folder.path)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder.socket(ID)))
        (folder.path / "b.sock").symlink_to(f"{ID}.sock")
        (folder.path / "c.sock").mkdir()
        self.assertEqual(frozenset({ID}), quarters.found())
        folder.clear(ID)
        folder.clear(ID)
        self.assertEqual(frozenset(), quarters.found())
        error = self.assertRaises(MuxError, folder.clear, "c")
        self.assertIn("c.sock cannot be removed", str(error))

    def test_no_folder_for_sockets(self) -> None:
        folder = self.quarters().of(self.user).folder
        folder.path.write_text("in the way")
        self.assertRaises(MuxError, folder.prepare)


class OsUserTransportTests(QuartersCase):
    def setUp(self) -> None:
        super().setUp()
        self.transport = OsUserTransport("/t", "/p", "/s", self.user, self.world.users)

    def test_argv(self) -> None:
        """A session of its own, every right of root dropped, ended with the service."""
        user = evolve(self.user, uid=1001, gid=1002, groups=(1002, 7))
        transport = evolve(self.transport, user=user)
        rights = ["--groups", "1002,7", "--inh-caps=-all", "--pdeathsig", "KILL", "--"]
        self.assertEqual(
            ["/s", "/p", "--reuid", "1001", "--regid", "1002", *rights, "/t", "-V"],
            transport.argv("-V"),
        )

    def test_reached_as_the_user(self) -> None:
        self.assertIs(Reach.GONE, self.transport.reach(self.folder / "none"))
        self.assertEqual(["me"], self.world.acted)

    def test_not_reached_where_nobody_can_act(self) -> None:
        users = evolve(self.world.users, host=evolve(self.world.users.host, act=not_here))
        transport = evolve(self.transport, users=users)
        self.assertIs(Reach.UNKNOWN, transport.reach(self.folder / "none"))

    def test_held_processes(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as child:
            other = evolve(self.transport, user=evolve(self.user, uid=os.getuid() + 1))
            self.assertIsNone(other.hold(child.pid))
            held = self.transport.hold(child.pid)
            assert held is not None
            held.kill()
            child.wait()
            held.close()
        self.assertIsNone(self.transport.hold(child.pid))


class MultiplexerTests(QuartersCase):
    """Which quarters are asked."""

    def multiplexer(self, others: OsUserQuarters | None) -> TmuxMultiplexer:
        nobody: Any = None  # no process is started
        return TmuxMultiplexer(
            Clock(),
            nobody,
            LocalTransport("/t"),
            SocketFolder(self.folder),
            token=lambda: secrets.token_hex(8),
            python=sys.executable,
            capacity=1024,
            others=others,
        )

    def spec(self) -> PaneSpec:
        return PaneSpec(session_id=ID, argv=("x",), env={}, cwd="/", os_user=self.user)

    def test_where_there_are_none(self) -> None:
        mux = self.multiplexer(None)
        for work in (mux.create(self.spec()), mux.adopt(ID, self.user)):
            why = self.failureResultOf(Deferred.fromCoroutine(work), MuxError)
            self.assertIn("panes can only run as the service's own user", str(why.value))

    def test_found(self) -> None:
        quarters = self.quarters()
        mux = self.multiplexer(quarters)
        folder = quarters.of(self.user).folder
        folder.prepare()
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder.socket(ID)))
        self.assertEqual(frozenset({ID}), mux.found())
        adopted = mux.adopt(ID, self.user)
        self.assertIsNone(self.successResultOf(Deferred.fromCoroutine(adopted)))
        self.assertEqual(frozenset(), mux.found())

    def test_the_fake_knows_them_too(self) -> None:
        mux = FakeMultiplexer(Clock())
        self.successResultOf(Deferred.fromCoroutine(mux.create(self.spec())))
        for user, there in ((None, False), (evolve(self.user, uid=1), False), (self.user, True)):
            found = self.successResultOf(Deferred.fromCoroutine(mux.adopt(ID, user)))
            self.assertEqual(there, found is not None)
