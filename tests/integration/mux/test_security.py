"""Who may reach a pane's server, and what others may see of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from attrs import evolve

from tests.integration.mux.harness import TmuxTestCase, command_lines, logged_output
from tservice.mux.interface import InputMark
from tservice.mux.tmux.sockets import SocketFolder

SECRET = "c0rrect-h0rse"


def open_files(pid: int | None) -> list[str]:
    """What a process has open."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(entry))
        except FileNotFoundError:
            continue  # a program that starts opens and closes its libraries
    return found


class SecurityTests(TmuxTestCase):
    async def test_tmux_sockets_are_private(self) -> None:
        pane = await self.mux.create_pane(self.spec())
        folder = self.folder / "mux"
        self.assertEqual(0o700, stat.S_IMODE(folder.stat().st_mode))
        path = folder / f"{pane.session_id}.sock"
        self.assertEqual(0, stat.S_IMODE(path.stat().st_mode) & 0o077)

    async def test_open_socket_folder_is_made_private(self) -> None:
        (self.folder / "mux").mkdir(mode=0o755)
        await self.mux.create_pane(self.spec())
        self.assertEqual(0o700, stat.S_IMODE((self.folder / "mux").stat().st_mode))

    async def test_secrets_are_on_no_command_line(self) -> None:
        spec = self.spec()
        pane = await self.mux.create_pane(evolve(spec, env={**spec.env, "TOKEN": SECRET}))
        await pane.paste(SECRET, InputMark(id="a"))
        await pane.write_bytes(SECRET.encode())
        await self.until(lambda: logged_output(pane).count(SECRET.encode()) == 2, "the echo")
        self.assertEqual([], [line for line in command_lines() if SECRET.encode() in line])

    async def test_tmux_server_inherits_nothing_of_the_service(self) -> None:
        """Another session and process group, and nothing of this process open."""
        marker = self.folder / "open"
        with marker.open("w") as file:
            os.set_inheritable(file.fileno(), True)
            pane = await self.mux.create_pane(self.spec())
        pid = await self.server_pid(pane)
        self.assertNotEqual(os.getsid(0), os.getsid(pid))
        self.assertNotEqual(os.getpgid(0), os.getpgid(pid))
        for process in (pid, pane.pid):
            self.assertNotIn(str(marker), open_files(process))

    async def test_pane_pid_is_that_of_the_program(self) -> None:
        pane = await self.mux.create_pane(self.spec("sleep", "60"))
        # A process has no command line for the moment in which it changes programs.
        await self.until(lambda: command_lines(str(pane.pid)) == [b"sleep\x0060\x00"], "its name")

    async def test_tmux_has_no_key_bindings(self) -> None:
        pane = await self.mux.create_pane(self.spec())
        blocks = await pane.link.send_command(b"list-keys")
        self.assertEqual((), blocks[0].lines)

    async def test_long_socket_path_moves_to_a_short_folder(self) -> None:
        runtime = self.folder / "run"
        runtime.mkdir()
        folder = SocketFolder(self.folder / ("x" * 100), runtime)
        await folder.prepare_folder()
        self.assertEqual(runtime, folder.path.parent)
        self.assertEqual(0o700, stat.S_IMODE(folder.path.stat().st_mode))
        self.assertLessEqual(len(os.fsencode(folder.get_socket_path("a" * 36))), 107)
