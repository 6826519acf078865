"""Every byte arrives: typed, pasted, printed, in arguments and in the environment."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

from tests.integration.mux.harness import RecordingPaneListener, TmuxTestCase, logged_output
from tservice.mux.interface import MuxError
from tservice.mux.terminfo import find_local_term
from tservice.mux.tmux.pane import TmuxPane

RAW = "stty raw -echo; printf ready; "


def read(path: str) -> bytes:
    """A file's content."""
    return Path(path).read_bytes()


class PaneByteTests(TmuxTestCase):
    async def ready(self, script: str, **more: object) -> TmuxPane:
        """Run C{script} on a raw terminal and wait for its C{ready}."""
        pane = await self.mux.create_pane(self.spec("sh", "-c", RAW + script, **more))
        await self.until(lambda: b"ready" in logged_output(pane), "the program")
        return pane

    async def typed_into(self, size: int) -> tuple[TmuxPane, str]:
        path = str(self.folder / "typed")
        return await self.ready(f"head -c {size} >{path}; printf done; cat"), path

    async def content(self, pane: TmuxPane, path: str) -> bytes:
        await self.until(lambda: b"done" in logged_output(pane), "the end of the input")
        return read(path)

    async def test_typed_bytes_arrive_unchanged(self) -> None:
        data = bytes(range(256)) * 20
        pane, path = await self.typed_into(len(data))
        await pane.write_bytes(data)
        self.assertEqual(data, await self.content(pane, path))

    async def test_pasted_text_arrives_unchanged(self) -> None:
        text = (
            "".join(chr(code) for code in range(32, 127)) + "\t\n$HOME #{pid} é \u20ac \U0001f600;"
        )
        data = (text * 500).encode()
        pane, path = await self.typed_into(len(data))
        await pane.paste(text * 500)
        self.assertEqual(data, await self.content(pane, path))

    async def test_pastes_are_bracketed_when_the_program_requests_it(self) -> None:
        path = f"{self.folder}/pasted"
        script = f"printf '\\033[?2004h'; head -c 15 >{path}; printf done"
        pane = await self.ready(script)
        await self.until(lambda: b"2004h" in logged_output(pane))
        await pane.paste("a\nb")
        self.assertEqual(b"\x1b[200~a\nb\x1b[201~", await self.content(pane, path))

    async def test_keys_follow_the_cursor_mode_of_the_program(self) -> None:
        path = f"{self.folder}/k"
        pane = await self.ready(
            f"head -c 3 >{path}; printf '\\033[?1h'; head -c 3 >>{path}; printf done"
        )
        await pane.send_key("Up")
        await self.until(lambda: b"?1h" in logged_output(pane), "application mode")
        await pane.send_key("Down")
        self.assertEqual(b"\x1b[A\x1bOB", await self.content(pane, path))

    async def test_printed_bytes_are_logged_unchanged(self) -> None:
        """8 MB of anything, invalid UTF-8 and all control characters among it."""
        data = random.Random(7).randbytes(8 * 1024 * 1024)
        (self.folder / "flood").write_bytes(data)
        pane = await self.ready(f"read x; cat {self.folder}/flood; sleep 30")
        start = pane.log.end
        await pane.write_bytes(b"\n")
        await self.until(lambda: pane.log.end - start >= len(data), "the flood")
        got = hashlib.sha256(logged_output(pane, start)).hexdigest()
        self.assertEqual(hashlib.sha256(data).hexdigest(), got)

    async def test_first_bytes_of_a_program_are_kept(self) -> None:
        pane = await self.mux.create_pane(self.spec("printf", "first"))
        await self.until(lambda: pane.ending, "the end")
        self.assertEqual((0, b"first"), (pane.log.start, logged_output(pane)))

    async def test_last_bytes_and_exit_status_of_a_program_are_kept(self) -> None:
        """A program that prints and exits loses none of them, and its status is right."""
        for status in range(30):
            script = f"printf 'line %s\\n' a b c; exit {status}"
            pane = await self.ended("sh", "-c", script)
            self.assertEqual(
                (0, b"line a\r\nline b\r\nline c\r\n"), (pane.log.start, logged_output(pane))
            )
            self.assertEqual(status, pane.ending.status if pane.ending else None)
            await pane.kill()

    async def ended(self, *argv: str) -> TmuxPane:
        """A pane whose program is over."""
        pane = await self.mux.create_pane(self.spec(*argv))
        await self.until(lambda: pane.ending, "the end")
        return pane

    async def test_last_bytes_of_a_flood_are_kept(self) -> None:
        heard = RecordingPaneListener()
        pane = await self.mux.create_pane(self.spec("sh", "-c", "read x; seq 1 300000"))
        pane.add_listener(heard)
        await pane.write_bytes(b"\r")
        await self.until(lambda: heard.exits, "the end")
        self.assertEqual(0, pane.log.start)
        self.assertTrue(logged_output(pane).endswith(b"299999\r\n300000\r\n"))

    async def test_arguments_reach_the_program_unchanged(self) -> None:
        """As they are: tmux's separators, formats and quotes mean nothing in them."""
        words = [
            "",
            ";",
            "a;",
            "\\;",
            "#{pid}",
            "$HOME",
            "'",
            '"',
            "\n",
            "é",
            "-x",
            "%0",
            "x" * 40_000,
        ]
        path = f"{self.folder}/args"
        pane = await self.mux.create_pane(
            self.spec("sh", "-c", f'printf "%s\\0" "$@" >{path}', "sh", *words)
        )
        await self.until(lambda: pane.ending, "the end")
        self.assertEqual(words, read(path).decode().split("\0")[:-1])

    async def environment(self, env: dict[str, str]) -> dict[str, str]:
        pane = await self.mux.create_pane(self.spec("/usr/bin/env", "-0", env=env))
        await self.until(lambda: pane.ending, "the end")
        entries = logged_output(pane).decode().split("\0")[:-1]
        await pane.kill()
        return dict(entry.split("=", 1) for entry in entries)

    async def test_environment_of_the_pane_is_exactly_as_given(self) -> None:
        """What the pane was given and nothing else: no TMUX, nothing of the service."""
        env = {"A": "1", "B": "$A 'x' \"y\" é", "TERM": "xterm", "PWD": "/x", "SHELL": "/y"}
        wanted = {"COLORTERM": "truecolor"}
        self.assertEqual(env | wanted, await self.environment(env))
        self.assertEqual({"TERM": find_local_term()} | wanted, await self.environment({}))

    async def test_programs_find_the_description_of_their_terminal(self) -> None:
        """Its description is there, and has what tmux does."""
        pane = await self.mux.create_pane(self.spec("sh", "-c", "tput colors; tput sitm"))
        await self.until(lambda: pane.ending, "the end")
        self.assertEqual(b"256\r\n\x1b[3m", logged_output(pane))

    async def test_program_starts_in_its_folder(self) -> None:
        pane = await self.mux.create_pane(self.spec("pwd", cwd=str(self.folder)))
        await self.until(lambda: pane.ending, "the end")
        self.assertEqual(os.fsencode(self.folder) + b"\r\n", logged_output(pane))

    async def test_failed_program_start_is_reported_and_leaves_nothing(self) -> None:
        """It is told at once, as a shell would write it, and leaves nothing behind."""
        unknown = self.spec("no such program", "x")
        for spec in (
            unknown,
            self.spec("/etc/passwd"),
            self.spec("sh", cwd="/no/such/folder"),
            self.spec("sh", env={"A=B": "x"}),
        ):
            with self.assertRaises(MuxError) as caught:
                await self.mux.create_pane(spec)
            self.assertNotIn("disk", str(caught.exception))
            if spec is unknown:
                told = f"cannot run 'no such program' in {spec.cwd}: "
                self.assertEqual(told, str(caught.exception)[: len(told)])
        self.assertEqual([], list((self.folder / "mux").iterdir()))
