"""The two keepers: one suite for C{keeper.py} and for the program made of C{keeper.c}."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.mux.harness import TmuxTestCase
from tests.waiting import PATIENCE, wait_until
from tservice.mux.tmux.compiled_keeper import find_compiled_keeper
from tservice.mux.tmux.keeper import APART, LINGER
from tservice.mux.tmux.setup import KEEPER

COMPILER = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
FLAGS = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
C_LIBRARYS_OWN = 3 << 31
"""Signals 32 and 33, which glibc keeps for itself and ignores in what it starts."""
WORD = re.compile(rb"\x1b\]7773;token;([a-z]+);([0-9]+)\x07")


class KeeperRun:
    """One run of a keeper, without a terminal."""

    def __init__(self, command: tuple[str, ...], argv: tuple[str, ...], env: dict[str, str]):
        given = {f"TSERVICE_PANE_ARG{at}": word for at, word in enumerate(argv)}
        # The loader and the sanitizers want no terminal; the last name is of a pane of old.
        whole = {"TSERVICE_PANE_TOKEN": "token", **given, **env}
        self.process = subprocess.Popen(
            command, env=whole, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0
        )
        self.out = b""
        # One that goes on for ever must not hold up whoever reads from it.
        self.timer = threading.Timer(PATIENCE, self.process.kill)
        self.timer.start()

    def close(self) -> None:
        """End it, if it has not ended."""
        self.timer.cancel()
        self.process.kill()

    def read(self, count: int) -> bytes:
        """Until C{count} words have come, or the end."""
        assert self.process.stdout is not None
        while len(WORD.findall(self.out)) < count:
            data = self.process.stdout.read(4096)
            if not data:
                break
            self.out += data
        return self.out

    def finish(self) -> tuple[bytes, list[tuple[bytes, bytes]], int]:
        """What the program wrote, what the keeper said, and how it ended."""
        assert self.process.stdout is not None
        self.out += self.process.stdout.read()
        self.process.stdout.close()
        status = self.process.wait(PATIENCE)
        return WORD.sub(b"", self.out), WORD.findall(self.out), status


class Suite:
    """What a keeper does; C{self} is one of the classes at the end of this file."""

    def begin(self: Any, *argv: str, **env: str) -> KeeperRun:
        kept = KeeperRun(self.command, argv, {"TSERVICE_PANE_ENV_PATH": os.environ["PATH"], **env})
        self.addCleanup(kept.close)
        return kept

    def test_exit_status_and_signal_of_programs_are_reported(self: Any) -> None:
        """Side by side, for each lingers."""
        runs = [
            (self.begin("sh", "-c", script), said, status)
            for script, said, status in (
                ("printf out; exit 0", (b"exit", b"0"), 0),
                ("printf out; exit 130", (b"exit", b"130"), 130),
                ("printf out; kill -TERM $$", (b"signal", b"15"), -15),
                ("printf out; kill -KILL $$", (b"signal", b"9"), -9),
                ("printf out; kill -SEGV $$", (b"signal", b"11"), -11),
            )
        ]
        for kept, said, status in runs:
            text, words, ended = kept.finish()
            self.assertEqual((b"out", said, status), (text, words[1], ended))
            self.assertEqual(b"started", words[0][0])

    def test_failed_program_starts_are_reported_with_errno(self: Any) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "plain").write_text("no program")
        (folder / "empty").write_text("")
        (folder / "empty").chmod(0o755)
        tries: list[tuple[tuple[str, ...], dict[str, str], bytes]] = [
            (("nowhere-to-be-found",), {}, b"2"),
            ((str(folder / "none"),), {}, b"2"),
            ((str(folder / "plain"),), {}, b"13"),
            ((str(folder),), {}, b"13"),
            (("sh",), {"TSERVICE_PANE_CWD": str(folder / "none")}, b"2"),
            (("plain",), {"TSERVICE_PANE_ENV_PATH": str(folder)}, b"2"),
            ((), {}, b"2"),
        ]
        runs = [(self.begin(*argv, **env), number) for argv, env, number in tries]
        for kept, number in runs:
            self.assertEqual((b"", [(b"failed", number)], 127), kept.finish())

    def test_preface_is_printed_first_and_removed(self: Any) -> None:
        """To the byte, however long it is; the program knows nothing of it."""
        folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, folder)
        preface, rows = folder / "preface", b"".join(b"row %d\r\n" % at for at in range(20_000))
        for data in (rows, b""):
            preface.write_bytes(data)
            kept = self.begin("env", TSERVICE_PANE_PREFACE=str(preface))
            text, words, status = kept.finish()
            self.assertEqual((data, 0), (text[: len(data)], status))
            self.assertEqual(f"PATH={os.environ['PATH']}\n".encode(), text[len(data) :])
            self.assertTrue(kept.out.startswith(data))
            self.assertEqual([b"started", b"exit"], [word for word, _ in words])
            self.assertFalse(preface.exists())

    def test_missing_or_linked_preface_is_ignored(self: Any) -> None:
        """Nor is a link followed, to whatever it leads."""
        folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "other").write_text("of somebody else")
        (folder / "link").symlink_to("other")
        (folder / "folder").mkdir()
        named = ["", *(str(folder / name) for name in ("none", "link", "folder"))]
        runs = [self.begin("printf", "on", TSERVICE_PANE_PREFACE=path) for path in named]
        for kept in runs:
            text, words, status = kept.finish()
            self.assertEqual((b"on", b"started", 0), (text, words[0][0], status))
        self.assertEqual("of somebody else", (folder / "other").read_text())

    def test_preface_is_printed_before_a_failing_start(self: Any) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "preface").write_text("before")
        kept = self.begin("nowhere-to-be-found", TSERVICE_PANE_PREFACE=str(folder / "preface"))
        self.assertEqual((b"before", [(b"failed", b"2")], 127), kept.finish())

    def test_program_gets_exactly_the_environment_of_its_pane(self: Any) -> None:
        kept = self.begin(
            "env",
            "-0",
            KEPT="a=b",
            TERM="overwritten",
            TMUX="/socket",
            PWD="/",
            TSERVICE_PANE_ENV_TERM="xterm",
            TSERVICE_PANE_ENV_KEPT="replaced",
            TSERVICE_PANE_ENV_EMPTY="",
            TSERVICE_PANE_OTHER="secret",
            PATHS="no PATH",
        )
        text, _, _ = kept.finish()
        found = dict(entry.split(b"=", 1) for entry in text.rstrip(b"\0").split(b"\0"))
        wanted = {"KEPT": "replaced", "TERM": "xterm", "EMPTY": "", "PATHS": "no PATH"}
        wanted["PATH"] = os.environ["PATH"]
        self.assertEqual({k.encode(): v.encode() for k, v in wanted.items()}, found)

    def test_keeper_finds_the_program_by_path_or_name(self: Any) -> None:
        """By the pane's PATH, an empty part of which is the folder; by a path as it is."""
        folder = Path(tempfile.mkdtemp(prefix="ts-"))
        self.addCleanup(shutil.rmtree, folder)
        program = folder / "named"
        program.write_text('#!/bin/sh\nprintf "%s|%s" "$(/bin/pwd)" "$*"\n')
        program.chmod(0o755)
        (folder / "deep").mkdir()
        (folder / "deep" / "named").mkdir()
        cwd = {"TSERVICE_PANE_CWD": str(folder)}
        runs = [
            self.begin("named", "a", "", "ö 'x'", **cwd, TSERVICE_PANE_ENV_PATH=path)
            for path in ("", ":", f"/none:{folder}/deep:{folder}", "/none::/none", ".")
        ]
        runs.append(self.begin("./named", "a", "", "ö 'x'", **cwd))
        for kept in runs:
            self.assertEqual(f"{folder}|a  ö 'x'".encode(), kept.finish()[0])

    def test_program_starts_with_default_signal_handling(self: Any) -> None:
        """Though the keeper itself ignores what the terminal's keys send."""
        kept = self.begin("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
        text, _, _ = kept.finish()
        masks = [int(line.split()[1], 16) for line in text.splitlines()]
        self.assertEqual([0, 0], [mask & ~C_LIBRARYS_OWN for mask in masks])

    def test_terminal_signals_do_not_end_the_keeper(self: Any) -> None:
        kept = self.begin("sh", "-c", "printf on; exec sleep 60")
        pid = int(WORD.findall(kept.read(1))[0][1])
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
            os.kill(kept.process.pid, number)
        os.kill(pid, signal.SIGTERM)
        self.assertEqual(((b"signal", b"15"), -15), (kept.finish()[1][1], kept.process.returncode))

    def test_hangup_is_passed_on_to_a_stopped_program(self: Any) -> None:
        kept = self.begin("sh", "-c", "exec sleep 60")
        pid = int(WORD.findall(kept.read(1))[0][1])
        os.kill(pid, signal.SIGSTOP)
        wait_until("the stop", lambda: stat(pid)[0] == "T", every=0.01)
        wait_until("the handler", lambda: caught(kept.process.pid, signal.SIGHUP), every=0.01)
        os.kill(kept.process.pid, signal.SIGHUP)
        self.assertEqual((b"signal", b"1"), kept.finish()[1][1])

    def test_keeper_waits_after_the_end_for_the_last_bytes(self: Any) -> None:
        """The terminal is left a second after the end, the process ends a moment later."""
        # From before its start: when the end was said is not known here, only when it was read.
        begun = time.monotonic()
        self.begin("true").finish()
        self.assertGreater(time.monotonic() - begun, LINGER + APART)

    def test_closed_keeper_terminal_does_not_change_the_exit_status(self: Any) -> None:
        """Words that nobody hears hurt nobody."""
        ours, theirs = pty.openpty()
        env = {"TSERVICE_PANE_ARG0": "/bin/sh", "TSERVICE_PANE_ARG1": "-c"}
        env["TSERVICE_PANE_ARG2"] = "trap '' HUP; printf on; read -r line; exit 7"
        process = subprocess.Popen(
            self.command, env=env, stdin=theirs, stdout=theirs, start_new_session=True
        )
        os.close(theirs)
        self.addCleanup(process.kill)
        heard = b""
        # The keeper says that the program was started before either is ready for a hangup.
        while b"on" not in heard:
            heard += os.read(ours, 100)
        wait_until("the handler", lambda: caught(process.pid, signal.SIGHUP), every=0.01)
        os.close(ours)
        self.assertEqual(7, process.wait(PATIENCE))


class PythonKeeperTests(Suite, SynchronousTestCase):
    command = (sys.executable, "-I", "-S", str(KEEPER))


class BuiltKeeperTests(Suite, SynchronousTestCase):
    """With the sanitizers: what they find ends the keeper in another way than the program."""

    folder: Path
    command: tuple[str, ...]
    skip = None if COMPILER else "there is no C compiler"

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.folder = Path(tempfile.mkdtemp(prefix="ts-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        program = cls.folder / "keeper"
        cls.command = (str(program),)
        if COMPILER is not None:
            source = KEEPER.with_name("keeper.c")
            subprocess.run([COMPILER, *FLAGS, *SANITIZERS, "-o", program, source], check=True)


class PythonInTmuxTests(TmuxTestCase):
    """What every other test here does with the program, if it was built, C{keeper.py} does too."""

    keeper = None

    async def test_python_keeper_keeps_last_output_and_exit_status(self) -> None:
        pane = await self.mux.create_pane(self.spec("sh", "-c", "printf 'last words'; exit 3"))
        await self.until(lambda: pane.ending, "the end")
        assert pane.ending is not None
        self.assertEqual(3, pane.ending.status)
        self.assertEqual(b"last words", pane.log.read(0, 100))


class WhichTests(SynchronousTestCase):
    def test_keeper_is_chosen_for_a_program_of_this_machine(self) -> None:
        self.assertEqual(Path("/bin/sh"), find_compiled_keeper(sys.executable, [Path("/bin/sh")]))

    def test_keeper_for_another_machine_is_not_used(self) -> None:
        other = Path("other")
        head = bytearray(Path(sys.executable).read_bytes()[:64])
        head[18:20] = b"\xf3\x7f"
        other.write_bytes(head)
        for file in (other, Path("none"), Path(__file__)):
            if file is other:
                file.chmod(0o755)
            self.assertIsNone(find_compiled_keeper(sys.executable, [file]))
        other.write_bytes(Path(sys.executable).read_bytes()[:64])
        self.assertEqual(other, find_compiled_keeper(sys.executable, [other]))
        self.assertEqual(other, find_compiled_keeper(sys.executable, [Path("none"), other]))
        other.chmod(0o644)
        self.assertIsNone(find_compiled_keeper(sys.executable, [other]))


def stat(pid: int) -> list[str]:
    """The process's state and what follows it."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()


def caught(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"SigCgt:\s*([0-9a-f]+)", status)
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)
