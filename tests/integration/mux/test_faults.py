"""Clients, servers and programs that die, stop or lie."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from tests.integration.mux.harness import (
    TMUX,
    RecordingPaneListener,
    TmuxTestCase,
    command_lines,
    logged_output,
)
from tests.runtime_harness import HERE
from tests.waiting import PATIENCE
from tservice.mux.interface import (
    COMMAND_TIMEOUT,
    InputMark,
    Liveness,
    MuxError,
    MuxTimeout,
    PaneCapture,
    PaneGone,
)
from tservice.mux.local_transport import PidFdProcess
from tservice.mux.tmux.pane import TmuxPane

FLOOD = ("sh", "-c", "while :; do seq 1 20000; done")


def client_pid(pane: TmuxPane) -> int:
    client = pane.link._current
    assert client is not None
    return int(client._process.pid)


def parent(pid: int | None) -> int:
    """The process that started C{pid}."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def command_line(pid: int | None) -> bytes:
    """Empty for a process that is over."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


class RawClient(ProcessProtocol):
    """A control client that a test breaks on purpose."""

    def __init__(self) -> None:
        self.attached: Deferred[None] = Deferred()
        self.ended: Deferred[None] = Deferred()

    def outReceived(self, data: bytes) -> None:
        if not self.attached.called:
            self.attached.callback(None)

    def processEnded(self, reason: Failure) -> None:
        self.ended.callback(None)


class MuxFaultTests(TmuxTestCase):
    async def heard(self, *argv: str) -> tuple[TmuxPane, RecordingPaneListener]:
        pane, heard = await self.mux.create_pane(self.spec(*argv)), RecordingPaneListener()
        pane.add_listener(heard)
        ready = (lambda: pane.log.end) if argv else (lambda: logged_output(pane).endswith(b"$ "))
        await self.until(ready, "the first bytes")
        return pane, heard

    async def lose_client(self, pane: TmuxPane, pid: int) -> None:
        """Kill a client and wait for the hole that it leaves."""
        start = pane.log.end
        os.kill(pid, signal.SIGKILL)
        await self.until(lambda: pane.log.end > start and not pane.log.has_offset(start), "a gap")

    async def test_killed_tmux_client_is_replaced(self) -> None:
        """Under a flood: readers are told of the hole, and it goes on."""
        pane, heard = await self.heard(*FLOOD)
        for _ in range(5):
            before = client_pid(pane)
            await self.lose_client(pane, before)
            await pane.write_bytes(b"x", InputMark(id="a"))
            self.assertNotEqual(before, client_pid(pane))
        self.assertEqual((0, []), (heard.lost, heard.exits))
        self.assertIs(Liveness.ALIVE, await pane.probe_process())

    async def test_stopped_tmux_client_does_not_matter(self) -> None:
        """Tmux hands the client's pipes to the server, which goes on without it."""
        pane, _ = await self.heard()
        self.stop(client_pid(pane))
        await pane.write_bytes(b"echo one\r")
        await self.until(lambda: b"\r\none\r\n" in logged_output(pane), "the answer")

    async def test_closing_does_not_wait_for_a_stopped_server(self) -> None:
        pane, _ = await self.heard(*FLOOD)
        self.stop(await self.server_pid(pane))
        work = Deferred.fromCoroutine(self.mux.close())
        while not work.called:
            await self.pause(0.05)
            self.clock.advance(1)
        await work

    async def test_killed_server_loses_only_its_own_session(self) -> None:
        pane, heard = await self.heard(*FLOOD)
        other, _ = await self.heard()
        os.kill(await self.server_pid(pane), signal.SIGKILL)
        await self.until(lambda: heard.lost, "the loss")
        self.assertEqual([], heard.exits)
        self.assertIs(Liveness.ALIVE, await other.probe_process())

    async def test_background_shell_of_a_killed_server_ends(self) -> None:
        """Though it is not in the foreground, where the system hangs up by itself."""
        pane, heard = await self.heard("bash", "--norc", "-i")
        await pane.write_bytes(b"while :; do sleep 0.1; echo tick; done\r")
        await self.until(lambda: b"\r\ntick\r\ntick" in logged_output(pane), "the loop")
        pid = pane.pid
        os.kill(await self.server_pid(pane), signal.SIGKILL)
        await self.until(lambda: heard.lost and not command_line(pid), "the end")

    async def test_session_killed_in_tmux_is_reported_as_lost(self) -> None:
        pane, heard = await self.heard()
        await pane.link.send_command(b"kill-session")
        await self.until(lambda: heard.lost, "the loss")

    async def test_stopped_server_affects_only_its_own_session(self) -> None:
        pane, heard = await self.heard(*FLOOD)
        other, _ = await self.heard()
        pid = await self.server_pid(pane)
        self.stop(pid)
        work = Deferred.fromCoroutine(pane.capture_content())
        while not work.called:
            await self.pause(0.02)
            self.clock.advance(COMMAND_TIMEOUT)
        with self.assertRaises(MuxTimeout):
            await work
        self.assertIs(Liveness.ALIVE, await other.probe_process())
        self.assertEqual((0, []), (heard.lost, heard.exits))
        os.kill(pid, signal.SIGCONT)
        end = pane.log.end
        await self.until(lambda: pane.log.end > end + 100_000, "the flood again")
        self.assertEqual(24, len((await self.capture_when_replaced(pane)).lines))

    async def capture_when_replaced(self, pane: TmuxPane) -> PaneCapture:
        """Capture a pane whose client was doubted: what is asked while it is replaced fails."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return await pane.capture_content()
            except MuxError:
                if time.monotonic() > deadline:
                    raise
            await self.pause(0.05)

    async def test_stopped_server_is_adopted_only_after_it_continues(self) -> None:
        """Neither adopted nor removed nor killed; taken up once it goes on."""
        pane, _ = await self.heard()
        pid = await self.server_pid(pane)
        await self.mux.close()
        self.stop(pid)
        mux = self.multiplexer()
        work = Deferred.fromCoroutine(mux.adopt_pane(pane.session_id, HERE))
        while not work.called:
            await self.pause(0.05)
            self.clock.advance(COMMAND_TIMEOUT)
        with self.assertRaises(MuxTimeout):
            await work
        self.assertEqual({pane.session_id}, await mux.find_session_ids())
        os.kill(pid, signal.SIGCONT)
        again = await mux.adopt_pane(pane.session_id, HERE)
        assert again is not None
        self.assertEqual(pane.session_id, again.session_id)
        self.assertIs(Liveness.ALIVE, await again.probe_process())

    async def test_stopped_server_can_be_killed(self) -> None:
        pane, heard = await self.heard()
        server, program = await self.server_pid(pane), pane.pid
        self.stop(server)
        await self.killed_late(pane, COMMAND_TIMEOUT)
        self.assertEqual((b"", b""), (command_line(server), command_line(program)))
        self.assertEqual((frozenset(), 0), (await self.mux.find_session_ids(), heard.lost))

    async def killed_late(self, pane: TmuxPane, step: float) -> None:
        """Kill a pane whose server does not answer: time goes in steps until that is killed too."""
        killed: list[PidFdProcess] = []
        kill = PidFdProcess.kill

        async def noted(held: PidFdProcess) -> None:
            killed.append(held)
            await kill(held)

        self.patch(PidFdProcess, "kill", noted)
        work = Deferred.fromCoroutine(pane.kill())
        while not work.called:
            await self.pause(0.02)
            # Once it is killed, it ends in its own time.
            if not killed:
                self.clock.advance(step)
        await work

    async def test_half_started_server_can_be_killed(self) -> None:
        """The service died while its client was starting: tmux never ends such a client."""
        spec = self.spec()
        folder = self.folder / "mux"
        folder.mkdir()
        path = folder / f"{spec.session_id}.sock"
        pane = None
        while pane is None:
            await self.half_start(path)
            pane = await self.adopted(spec.session_id, path)
        server = await self.server_pid(pane)
        await self.killed_late(pane, 0.5)
        self.assertEqual(
            (b"", frozenset()), (command_line(server), await self.mux.find_session_ids())
        )

    async def half_start(self, path: Path) -> None:
        """Have a client begin to start a server, and leave it there."""
        argv = [TMUX, "-u", "-S", str(path), "-C", "new-session", "-x", "80", "--", "cat"]
        client = reactor.spawnProcess(RawClient(), TMUX, argv, {"TERM": "screen"}, "/")
        for pipe in (0, 1, 2):
            client.closeChildFD(pipe)
        await self.until(path.exists, "the socket")

    async def adopted(self, session_id: str, path: Path) -> TmuxPane | None:
        """Take up a server that comes up: it may not answer yet, or have no session yet.

        @return: C{None}: it saw the end of its client's input before it was told of a session, and
            is over indeed.
        """
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                pane = await self.mux.adopt_pane(session_id, HERE)
            except MuxError:
                await self.pause(0.05)
                continue
            if pane is None:
                await self.until(
                    lambda: not any(bytes(path) in line for line in command_lines()),
                    "the end of a server that was taken for gone",
                )
            return pane
        raise AssertionError("it never came up")

    async def test_socket_of_a_starting_server_is_left_alone(self) -> None:
        """Without it, nobody would find the server again."""
        spec = self.spec()
        (self.folder / "mux").mkdir()
        path = self.folder / "mux" / f"{spec.session_id}.sock"
        lock = os.open(f"{path}.lock", os.O_CREAT | os.O_WRONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket(socket.AF_UNIX) as starting:
            starting.bind(str(path))
            for take in (self.mux.adopt_pane(spec.session_id, HERE), self.mux.create_pane(spec)):
                with self.assertRaises(MuxError):
                    await take
            self.assertEqual({spec.session_id}, await self.mux.find_session_ids())

    async def test_stale_socket_file_is_removed(self) -> None:
        spec = self.spec()
        (self.folder / "mux").mkdir()
        path = self.folder / "mux" / f"{spec.session_id}.sock"
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(str(path))
        self.assertEqual({spec.session_id}, await self.mux.find_session_ids())
        self.assertIsNone(await self.mux.adopt_pane(spec.session_id, HERE))
        self.assertFalse(path.exists())

    async def test_end_of_a_killed_keeper_is_noticed(self) -> None:
        """Nobody says the last word; the end is noticed all the same, with a gap."""
        pane, heard = await self.heard()
        keeper = parent(pane.pid)
        start = pane.log.end
        os.kill(keeper, signal.SIGKILL)
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual("SIGKILL", heard.exits[0].signal)
        self.assertFalse(pane.log.has_offset(start))

    async def test_end_of_a_paused_pane_is_noticed(self) -> None:
        pane, heard = await self.heard("sh", "-c", "printf a; read x; echo end; exit 9")
        await pane.pause_output()
        await pane.write_bytes(b"\r")
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual(9, heard.exits[0].status)
        self.assertIn(b"end", b"".join((await pane.capture_content()).lines))

    async def test_program_that_ignores_the_hangup_is_killed(self) -> None:
        script = "trap '' HUP TERM; printf on; while :; do sleep 0.05; done"
        pane, _ = await self.heard("sh", "-c", script)
        pid = pane.pid
        work = Deferred.fromCoroutine(pane.kill())
        await work
        self.assertEqual(b"", command_line(pid))

    async def test_typing_into_an_ended_pane_does_not_crash_the_server(self) -> None:
        """The server does not crash over it, nothing is typed and no mark is set."""
        pane, heard = await self.heard("sh", "-c", "printf a; read x; exit 5")
        await pane.pause_output()
        # As if its end had not been noticed: keep the pane from looking.
        self.patch(pane, "handle_notice", lambda notice: None)
        await pane.write_bytes(b"\r", InputMark(id="before"))
        await self.until_dead(pane)
        self.assertIsNone(pane.ending)
        for work in (
            pane.paste("x", InputMark(id="after")),
            pane.write_bytes(b"x", InputMark(id="after")),
        ):
            with self.assertRaises(PaneGone):
                await work
        self.assertEqual(InputMark(id="before", done=1), await pane.read_last_mark())
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual((5, 0), (heard.exits[0].status, heard.lost))

    async def test_typing_leaves_copy_mode_first(self) -> None:
        pane, _ = await self.heard()
        for typed in (
            pane.write_bytes(b"echo ", InputMark(id="first")),
            pane.write_bytes(b"typed"),
            pane.send_key("Enter", InputMark(id="second")),
        ):
            await pane.link.send_command(b"copy-mode -t %0")
            await typed
        # Behind the prompt: the terminal would put a paste between the line and its answer.
        await self.until(lambda: b"\r\ntyped\r\n$ " in logged_output(pane), "the answer")
        await pane.link.send_command(b"copy-mode -t %0")
        await pane.paste("pasted", InputMark(id="last"))
        await self.until(lambda: b"pasted" in logged_output(pane), "the paste")
        await pane.write_bytes(b"\x15")
        self.assertEqual(InputMark(id="last"), await pane.read_last_mark())
        await pane.link.send_command(b"copy-mode -t %0")
        await pane.write_bytes(b"exit 5", InputMark(id="exit"))
        await pane.write_bytes(b"\r", None)
        await self.until_dead(pane)
        await pane.link.send_command(b"copy-mode -t %0")
        with self.assertRaises(PaneGone):
            await pane.write_bytes(b"x", InputMark(id="after"))
        self.assertEqual(InputMark(id="exit", done=6), await pane.read_last_mark())

    async def raw_client(self, pane: TmuxPane) -> tuple[RawClient, object]:
        protocol = RawClient()
        path = str(self.folder / "mux" / f"{pane.session_id}.sock")
        argv = [TMUX, "-N", "-S", path, "-C", "attach"]
        transport = reactor.spawnProcess(protocol, TMUX, argv, {}, "/")
        await protocol.attached
        return protocol, transport

    async def test_incomplete_control_line_is_not_run(self) -> None:
        """A service that dies while it writes types nothing and sets no mark."""
        pane, _ = await self.heard()
        end = pane.log.end
        protocol, transport = await self.raw_client(pane)
        transport.write(b"send-keys -H 78 ; set-option -p @tservice_mark a:b:1")  # type: ignore[attr-defined]
        transport.closeStdin()  # type: ignore[attr-defined]
        await protocol.ended
        self.assertIsNone(await pane.read_last_mark())
        self.assertEqual(end, pane.log.end)

    async def test_keys_and_their_mark_arrive_together(self) -> None:
        """Kill the client at any moment: the keys are there if and only if the mark is."""
        pane, _ = await self.heard()
        start, marks = pane.log.end, 0

        def shows(keys: int) -> Callable[[], bool]:
            return lambda: logged_output(pane, start) == b"x" * keys

        for turn in range(20):
            protocol, transport = await self.raw_client(pane)
            mark = f"m-{turn}"
            line = f"send-keys -H 78 ; set-option -p @tservice_mark {mark}:b:1\n"
            transport.write(line.encode())  # type: ignore[attr-defined]
            await self.pause(turn * 0.0002)
            transport.signalProcess("KILL")  # type: ignore[attr-defined]
            await protocol.ended
            # The server has the client's pipe, and may come to read it long after its end.
            await self.until_alone(pane)
            found = await pane.read_last_mark()
            if found is not None and found.id == mark:
                marks += 1
                await self.until(shows(marks), "the key")
        # What was typed before it shows before it.
        await pane.write_bytes(b"!")
        await self.until(lambda: logged_output(pane, start).endswith(b"!"), "the last key")
        self.assertEqual(b"x" * marks + b"!", logged_output(pane, start))
