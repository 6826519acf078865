"""How tmux runs in places, and the way to it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.runtime_harness import HERE, own_setups, places_of
from tests.unit.os_user_harness import OsUserWorld
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.users.keyring import use_fresh_keyring
from tservice.core.users.shared_folder import SharedFolder
from tservice.mux.interface import MuxError, PaneSpec
from tservice.mux.local_transport import LocalTransport, OsUserTransport
from tservice.mux.tmux.environment import build_environment
from tservice.mux.tmux.keeper import PREFIX, pane_environment
from tservice.mux.tmux.multiplexer import TmuxMultiplexer
from tservice.mux.tmux.server import TmuxServer
from tservice.mux.tmux.setup import CONFIGURATION, KEEPER, OsUserSetups, ServerSetups
from tservice.mux.tmux.sockets import SocketFolder
from tservice.mux.transport import ServerReachability

_T = TypeVar("_T")

ID = "0a1b2c3d-0000-4000-8000-00000000000a"


class SetupCase(SynchronousTestCase):
    def setUp(self) -> None:
        # Short, for a socket's path.
        self.folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.world = OsUserWorld(self.folder)
        user = self.world.add("me", os.getuid())
        self.user = evolve(user, gid=os.getgid())
        self.place = evolve(self.world.place(user), user=self.user)
        self.shared = SharedFolder(Path("/data"), self.folder / "s")

    def now(self, work: Coroutine[Any, Any, _T]) -> _T:
        found: _T = self.successResultOf(Deferred.fromCoroutine(work))
        return found

    def refused(self, work: Coroutine[Any, Any, object]) -> str:
        return str(self.failureResultOf(Deferred.fromCoroutine(work), MuxError).value)

    def sockets(self, setups: OsUserSetups) -> SocketFolder:
        """The user's."""
        found = self.now(setups.get_setup(self.place)).sockets
        assert isinstance(found, SocketFolder)
        return found

    def setups(self, *pythons: str) -> OsUserSetups:
        return OsUserSetups(
            shared=self.shared,
            tmux="/t",
            pythons=pythons or (sys.executable,),
        )


class OsUserSetupTests(SetupCase):
    def test_program_files_are_readable_by_every_user(self) -> None:
        found = self.now(self.setups("/none", sys.executable).get_setup(self.place))
        self.assertEqual(sys.executable, found.python)
        for copy, original in ((found.keeper, KEEPER), (found.configuration, CONFIGURATION)):
            self.assertEqual(self.shared.path, copy.parent)
            self.assertEqual(original.read_bytes(), copy.read_bytes())
            self.assertEqual(0o644, copy.stat().st_mode & 0o777)

    def test_environment_before_the_user_change_is_clean(self) -> None:
        """Nothing of the pane's environment has a name that a loader or setpriv would know."""
        setup = self.now(self.setups().get_setup(self.place))
        self.assertIs(use_fresh_keyring, setup.start_context)
        env = {"LD_AUDIT": "/evil.so", "PATH": "/p", "TERM": "t"}
        spec = PaneSpec(session_id=ID, argv=("x",), env=env, cwd="/", place=HERE)
        found = build_environment(spec, b"token", foreign=setup.is_foreign)
        self.assertEqual([], [name for name in found if not name.startswith(PREFIX)])
        self.assertEqual(
            {os.fsencode(name): os.fsencode(value) for name, value in env.items()}
            | {b"COLORTERM": b"truecolor"},
            pane_environment(found),
        )
        self.assertIn(b"LD_AUDIT", build_environment(spec, b"token"))

    def test_refused_program_start_is_an_error(self) -> None:
        class Processes:
            def spawnProcess(self, *args: object, **more: object) -> None:
                raise PermissionError(1, "not today")

        processes: Any = Processes()
        setup = evolve(self.now(self.setups().get_setup(self.place)), start_context=nullcontext)
        server = TmuxServer(Clock(), processes, setup, ID)
        client: Any = SimpleNamespace()
        error = self.assertRaises(MuxError, server.attach_client, client)
        self.assertEqual("/s cannot be started: not today", str(error))

    def test_missing_interpreter_is_an_error(self) -> None:
        error = self.refused(self.setups("/none").get_setup(self.place))
        self.assertEqual("me can run none of /none", error)

    def test_unwritable_shared_folder_is_an_error(self) -> None:
        (self.folder / "s").write_text("in the way")
        error = self.refused(self.setups().get_setup(self.place))
        self.assertIn("the files for me cannot be written", error)

    def test_sockets_of_the_user_folder_are_found(self) -> None:
        """In a folder of the user's; all of them are found, nothing else is taken for one."""
        setups = self.setups()
        self.assertEqual(frozenset(), self.now(setups.find_session_ids()))
        folder = self.sockets(setups)
        self.now(folder.prepare_folder())
        self.assertEqual(self.shared.get_user_folder(self.user), folder.path)
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder.get_socket_path(ID)))
        (folder.path / "b.sock").symlink_to(f"{ID}.sock")
        (folder.path / "c.sock").mkdir()
        self.assertEqual(frozenset({ID}), self.now(setups.find_session_ids()))
        self.now(folder.remove_socket(ID))
        self.now(folder.remove_socket(ID))
        self.assertEqual(frozenset(), self.now(setups.find_session_ids()))
        # What cannot be taken away is put aside: else nothing could be ended in there.
        (folder.path / "c.sock" / "x").touch()
        self.now(folder.remove_socket("c"))
        self.assertFalse((folder.path / "c.sock").exists())
        [aside] = folder.path.glob("c.sock.*")
        self.assertTrue((aside / "x").exists())
        folder.path = aside / "x"
        self.assertIn("c.sock cannot be removed", self.refused(folder.remove_socket("c")))

    def test_preface_file_belongs_to_the_user(self) -> None:
        """Written in the user's name, and through no link that the user has put there."""
        folder = self.sockets(self.setups())
        self.now(folder.prepare_folder())
        victim = self.folder / "victim"
        victim.write_text("kept")
        planted = folder.path / f"{ID}.preface"
        planted.symlink_to(victim)
        self.world.acted.clear()
        path = self.now(folder.put_preface(ID, b"rows"))
        self.assertEqual((["me"], planted), (self.world.acted, path))
        self.assertEqual((b"rows", "kept"), (path.read_bytes(), victim.read_text()))
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        self.now(folder.remove_socket(ID))
        self.assertFalse(path.exists())

    def test_unwritable_preface_is_left_out(self) -> None:
        nothing: Any = None  # no process is started
        setup = self.now(self.setups().get_setup(self.place))
        self.now(setup.sockets.prepare_folder())
        server = TmuxServer(Clock(), nothing, setup, ID)
        spec = PaneSpec(
            session_id=ID, argv=("sh",), env={}, cwd="/", place=self.place, preface=b"rows"
        )
        planted = setup.sockets.get_socket_path(ID).with_suffix(".preface")
        self.assertEqual(os.fsencode(planted), self.now(server.put_preface(spec)))
        planted.unlink()
        planted.mkdir()
        self.assertEqual(b"", self.now(server.put_preface(spec)))

    def test_file_instead_of_the_socket_folder_is_an_error(self) -> None:
        folder = self.sockets(self.setups())
        folder.path.write_text("in the way")
        self.refused(folder.prepare_folder())


class OsUserTransportTests(SetupCase):
    def setUp(self) -> None:
        super().setUp()
        self.transport = OsUserTransport("/t", self.place)

    def test_transport_runs_commands_through_the_location(self) -> None:
        """As the place runs whatever it runs."""
        self.assertEqual(self.place.build_command(["/t", "-V"]), self.transport.build_argv("-V"))
        self.assertEqual("/s", self.transport.build_argv("-V")[0])

    def test_server_is_reached_as_the_user(self) -> None:
        self.assertIs(
            ServerReachability.GONE,
            self.now(self.transport.check_reachability(self.folder / "none")),
        )
        self.assertEqual(["me"], self.world.acted)

    def test_remote_user_is_unreachable(self) -> None:
        far = places_of(HERE).find_earlier_location(LocationId(kind=LocationKind.REMOTE, name="h"))
        transport = evolve(self.transport, place=far)
        self.assertIs(
            ServerReachability.UNKNOWN, self.now(transport.check_reachability(self.folder / "none"))
        )

    def test_only_processes_of_the_user_are_held(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as child:
            stranger = evolve(self.place, user=evolve(self.user, uid=os.getuid() + 1))
            other = evolve(self.transport, place=stranger)
            self.assertIsNone(self.now(other.acquire_process(child.pid)))
            held = self.now(self.transport.acquire_process(child.pid))
            assert held is not None
            self.now(held.kill())
            child.wait()
            held.close()
        self.assertIsNone(self.now(self.transport.acquire_process(child.pid)))


class MultiplexerTests(SetupCase):
    """Which setup is asked for."""

    def multiplexer(self, others: OsUserSetups | None) -> TmuxMultiplexer:
        nobody: Any = None  # no process is started
        setups: dict[LocationKind, ServerSetups] = {}
        setups |= own_setups(LocalTransport("/t"), SocketFolder(self.folder))
        if others is not None:
            setups[LocationKind.OS_USER] = others
        token = partial(secrets.token_hex, 8)
        return TmuxMultiplexer(Clock(), nobody, setups, token=token, capacity=1024)

    def spec(self) -> PaneSpec:
        return PaneSpec(session_id=ID, argv=("x",), env={}, cwd="/", place=self.place)

    def test_location_without_a_setup_runs_no_panes(self) -> None:
        mux = self.multiplexer(None)
        for work in (mux.create_pane(self.spec()), mux.adopt_pane(ID, self.place)):
            self.assertEqual("this service runs no panes in me", self.refused(work))

    def test_sessions_of_os_users_are_found_and_adopted(self) -> None:
        setups = self.setups()
        mux = self.multiplexer(setups)
        folder = self.sockets(setups)
        self.now(folder.prepare_folder())
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder.get_socket_path(ID)))
        self.assertEqual(frozenset({ID}), self.now(mux.find_session_ids()))
        self.assertIsNone(self.now(mux.adopt_pane(ID, self.place)))
        self.assertEqual(frozenset(), self.now(mux.find_session_ids()))

    def test_fake_multiplexer_adopts_by_location(self) -> None:
        mux = FakeMultiplexer(Clock())
        self.now(mux.create_pane(self.spec()))
        other = self.world.place(self.world.add("other", 1))
        for place, there in ((HERE, False), (other, False), (self.place, True)):
            self.assertEqual(there, self.now(mux.adopt_pane(ID, place)) is not None)
