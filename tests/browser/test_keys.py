"""Real key events on the page, and the bytes that a program in the pane reads for them."""

from __future__ import annotations

import json
import re

from tests.browser.harness import BrowserCase, PageTerminal, wait_until_on_page
from tests.integration.harness import DaemonHarness

SHOWN = "stty -icanon -echo -isig -iexten -icrnl; printf '{asked}ready\\n'; cat -v"
"""A program that asks its terminal for something, and shows what it reads."""


class TerminalKeyTests(BrowserCase):
    """What arrives, of keys that the emulator alone would make something else of."""

    def shows(self, terminal: PageTerminal, *expected: tuple[str, str]) -> None:
        """Press keys, each followed by a letter; wait for what the program shows of all."""
        for keys, _ in expected:
            terminal.page.keyboard.press(keys)
            terminal.page.keyboard.type("x")
        wanted = "x".join(text for _, text in expected) + "x"
        wait_until_on_page(terminal.page, wanted, lambda: wanted in "".join(terminal.screen()))

    def program(self, asked: str) -> PageTerminal:
        daemon = self.daemon()
        self.session(daemon)
        return self.terminal(daemon.url).run(SHOWN.format(asked=asked)).wait("ready")

    def test_program_without_key_protocol_gets_legacy_keys(self) -> None:
        terminal = self.program("")
        self.shows(
            terminal,
            ("Shift+Enter", "^M"),
            ("Control+/", "^_"),
            ("Control+Shift+Minus", "^_"),
            ("Control+Shift+6", "^^"),
            ("Alt+PageUp", "^[[5;3~"),
        )

    def test_program_with_modify_other_keys_gets_extended_keys(self) -> None:
        terminal = self.program(r"\e[>4;2m")
        self.shows(terminal, ("Shift+Enter", "^[[13;2u"), ("Control+c", "^C"))
        terminal.page.reload()
        terminal.ready().focus()
        self.shows(terminal, ("Control+Enter", "^[[13;5u"))

    def test_program_with_kitty_protocol_gets_its_keys(self) -> None:
        terminal = self.program(r"\e[>1u")
        keys = (("Shift+Enter", "^[[13;2u"), ("Escape", "^[[27u"), ("Control+i", "^[[105;5u"))
        self.shows(terminal, *keys)
        terminal.page.reload()
        terminal.ready().focus()
        self.shows(terminal, *keys)

    def test_shift_enter_of_a_plain_agent_follows_its_configured_newline(self) -> None:
        daemon = DaemonHarness()
        self.addCleanup(daemon.close)
        program = daemon.home / "shows"
        program.write_text(f"#!/bin/sh\n{SHOWN.format(asked='')}\n")
        program.chmod(0o700)
        entry = {
            "label": "Mine",
            "shortBadge": "MI",
            "binaries": [str(program)],
            "argv": [str(program)],
        }
        named = {**entry, "capabilities": {"submission": {"newline": "C-j"}}}
        daemon.data.mkdir(mode=0o700)
        clis = daemon.data / "clis.json"
        clis.write_text(json.dumps({"clis": {"mine": entry, "named": named}}))
        clis.chmod(0o600)
        daemon.start()
        for mode, shown in (("mine", re.escape("^[[13;2ux")), ("named", "x")):
            session = self.session(daemon, mode, mode=mode)
            terminal = self.terminal(f"{daemon.url}/?session={session}").wait("ready")
            terminal.page.keyboard.press("Shift+Enter")
            terminal.page.keyboard.type("x")
            terminal.wait(shown)

    def test_next_key_after_the_shortcut_goes_to_the_program(self) -> None:
        """Also one that this page or the browser would take."""
        terminal = self.program("")
        for keys in ("w", "Alt+1", "Alt+Shift+N", "Shift+PageUp", "Control+Shift+F"):
            terminal.page.keyboard.press("Alt+Shift+Q")
            terminal.page.keyboard.press(keys)
        wanted = "^W^[1^[N^[[5;2~^F"
        wait_until_on_page(terminal.page, wanted, lambda: wanted in "".join(terminal.screen()))
