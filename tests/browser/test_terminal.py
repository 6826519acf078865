"""Typing, reloading, losing the connection and the daemon: the screen stays right."""

from __future__ import annotations

import random
import re
from itertools import cycle
from urllib.parse import urlsplit

import pytest

from tests.browser.cuttable_relay import BrowserRelay
from tests.browser.harness import (
    LOST,
    BrowserCase,
    PageTerminal,
    ask_tmux,
    expect_same,
    put_into_clipboard,
    read_clipboard,
    wait_until_on_page,
)
from tests.integration.harness import DaemonHarness

# As fast as it goes at first, then with pauses in which a page can come back and be cut again,
# for as long as it takes to cut it.
FLOOD = r"""for ((i = 1; i <= 20000 || ${#cuts} == 0; i++)); do
printf 'line %d \e[3%dm%d\e[0m 日本 %d\n' $i $((i % 8)) $RANDOM $RANDOM
((i > 8000 && i % 400 == 0)) && sleep 0.15 && [ -e cuts ] && cuts=over
done; echo $((i - 1)) > last; echo end-$((40 + 2))
"""
CUTS = 6
MANUAL = "https://manual.example/page"

CELLS = {
    "👩🏽\u200d💻=": 5,
    "👨\u200d👩\u200d👧": 2,
    "🏳\ufe0f\u200d🌈": 1,
    "👨\u200d👩\u200d👧\u200d👦==": 4,
    "👩\u200dabc": 5,
    "🇩🇪====": 6,
    "1\ufe0f\u20e3======": 7,
}
"""Cells of joined emoji in tmux 3.3a; the next one always has others, so that it is told apart, and
the first one others than the prompt before it."""

SHOW_CELLS = (
    r"""stty -echo; while read -r each <&3; do printf '\e[2J\e[H%s' "$each"; read -rsn1; """
    "done 3< samples; stty echo; clear"
)


def numbers(lines: list[str]) -> list[int]:
    """The numbers of the flood's lines, in their order."""
    found = (re.match(r"line (\d+) ", line) for line in lines)
    return [int(match.group(1)) for match in found if match]


class TerminalTypingTests(BrowserCase):
    @pytest.mark.essential
    def test_typed_command_shows_its_output(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        terminal = self.terminal(daemon.url).run("echo $((6 * 7))-done").wait("42-done")
        expect_same(daemon, session, terminal)

    def test_input_is_accepted_after_the_page_clock_went_back(self) -> None:
        """The page's first number is of its clock: the service knows higher ones of this tab."""
        daemon = self.daemon()
        self.session(daemon)
        page = self.terminal(daemon.url).run("echo $((6 * 7))-done").wait("42-done").page
        page.add_init_script("{ const now = Date.now; Date.now = () => now() - 3600e3; }")
        page.reload()
        PageTerminal(page).ready().run("echo $((6 * 8))-done").wait("48-done")

    def test_fast_typing_loses_no_character(self) -> None:
        """Far more keys than the service queues for a session, without a pause."""
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url)
        word = "".join(str(n % 10) for n in range(600))
        terminal.run(f"echo -n {word} | tee typed | wc -c").wait("600")
        self.assertEqual(word, (daemon.home / "typed").read_text())

    def test_terminal_returns_from_a_full_screen_program(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        terminal = (
            self.terminal(daemon.url).run("seq 1 500 > numbers; less numbers").wait("numbers")
        )
        terminal.page.keyboard.press("Space")
        terminal.wait("60")
        expect_same(daemon, session, terminal)
        terminal.type("q").run("echo back-$((1 + 1))").wait("back-2")
        expect_same(daemon, session, terminal)

    def test_emoji_take_as_many_cells_as_in_tmux(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        (daemon.home / "samples").write_text("".join(f"{each}\n" for each in CELLS))
        terminal = self.terminal(daemon.url)
        terminal.run(SHOW_CELLS)
        for sample, cells in CELLS.items():
            self.expect_columns(daemon, session, terminal, sample, cells)
            terminal.type("n")
        terminal.wait(r"\$")

    def expect_columns(
        self, daemon: DaemonHarness, session: str, terminal: PageTerminal, sample: str, cells: int
    ) -> None:
        """Wait until the caret stands there for tmux and on the page."""

        def places() -> list[int]:
            told = ask_tmux(daemon, session, "display", "-p", "#{cursor_x}")
            return [int(told), terminal.read()["cursor"]["x"]]

        wait_until_on_page(terminal.page, f"{sample}: {cells}", lambda: places() == [cells, cells])

    @pytest.mark.essential
    def test_reload_shows_the_same_screen(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        terminal = self.terminal(daemon.url)
        terminal.run(r"printf 'wide 日本語 \e[31mred\e[0m é 👍\n'; seq 1 80").wait("80")
        expect_same(daemon, session, terminal)
        before = terminal.read()
        terminal.page.reload()
        terminal.ready()
        for part in ("screen", "cursor", "cols", "rows"):
            wait_until_on_page(terminal.page, part, lambda p=part: terminal.read()[p] == before[p])  # type: ignore[misc]
        expect_same(daemon, session, terminal)
        self.assertIn("wide 日本語 red é 👍", terminal.read()["lines"])
        terminal.focus().run("echo on-$((2 + 1))").wait("on-3")
        terminal.run(rf"clear; printf 'see \e]8;;{MANUAL}\e\\the manual\e]8;;\e\\ of it\n'")
        self.expect_link(terminal)
        terminal.page.reload()
        self.expect_link(terminal.ready())

    def expect_link(self, terminal: PageTerminal) -> None:
        """The pointer on the text tells where it leads, and none beside it."""
        terminal.wait("see the manual of it")
        screen = terminal.element.locator(".xterm-screen")
        box = screen.bounding_box()
        assert box is not None
        grid = terminal.read()
        row = terminal.screen().index("see the manual of it")

        def told(column: float) -> str:
            x, y = box["width"] / grid["cols"] * column, box["height"] / grid["rows"] * (row + 0.5)
            screen.hover(position={"x": x, "y": y})
            return terminal.element.locator(".xterm").get_attribute("title") or ""

        for column, expected in ((4.5, MANUAL), (2.5, ""), (13.5, MANUAL), (14.5, "")):
            # The pointer has to move for the page to look what is below it.
            moves = cycle((column - 0.2, column + 0.2))
            wait_until_on_page(
                terminal.page,
                f"{expected} at {column}",
                lambda m=moves, e=expected: told(next(m)).split("\n")[0] == e,  # type: ignore[misc]
            )

    def test_ended_program_is_restarted_with_enter(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        terminal = self.terminal(daemon.url).run("exit 3")
        ended = terminal.page.get_by_test_id("ended")
        wait_until_on_page(terminal.page, "its end", ended.is_visible)
        self.assertIn("exited with status 3", ended.inner_text())
        terminal.page.keyboard.press("Enter")
        wait_until_on_page(terminal.page, "a new start", ended.is_hidden)
        terminal.ready().run("echo new-$((1 + 0))").wait("new-1")


NEWER = ("\U0001fae8=", "\U0001fae9==", "a\U0001fac6\U0001f7e0===", "䷀====")
"""Emoji of Unicode 15 and later, and a symbol: as many cells as this machine's tmux gives them."""

ASK_GROUND = (
    r"stty -echo raw; printf '\e]11;?\a'; ground=$(dd bs=1 count=24 2>/dev/null); stty sane; "
    r"printf 'ground %s.\n' ${ground:5:18}"
)


class TerminalOfAProgramTests(BrowserCase):
    """The page shows what the pane's tmux has, and that says what the page is."""

    def test_newer_emoji_are_drawn_live_and_after_a_reload(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        (daemon.home / "samples").write_text("".join(f"{each}\n" for each in NEWER))
        terminal = self.terminal(daemon.url)
        terminal.run(SHOW_CELLS)

        def places() -> list[int]:
            told = ask_tmux(daemon, session, "display", "-p", "#{cursor_x}")
            return [int(told), terminal.read()["cursor"]["x"]]

        for sample in NEWER:
            end = "=" * sample.count("=")

            def is_shown(end: str = end) -> bool:
                row = terminal.screen()[0]
                return row.endswith(end) and row.count("=") == len(end)

            wait_until_on_page(terminal.page, sample, is_shown)
            wait_until_on_page(terminal.page, "the caret", lambda: len(set(places())) == 1)
            expect_same(daemon, session, terminal)
            terminal.type("n")
        terminal.wait(r"\$").run("clear; cat samples; echo end-$((40 + 2))").wait("end-42")
        expect_same(daemon, session, terminal)
        terminal.page.reload()
        terminal.ready().wait("end-42")
        expect_same(daemon, session, terminal)

    def test_light_theme_is_reported_to_the_program(self) -> None:
        daemon = self.daemon()
        self.session(daemon)
        context = self.context()
        context.add_init_script(
            "localStorage.setItem('tservice.prefs', JSON.stringify({ theme: 'light' }))"
        )
        terminal = self.terminal(daemon.url, context)
        terminal.run(ASK_GROUND).wait(r"ground rgb:fdfd/fdfd/fcfc\.")


class WrappedLineTests(BrowserCase):
    """A line that is wrapped is one line, whenever the page came."""

    def opened(self, url: str) -> PageTerminal:
        context = self.context()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        return self.terminal(url, context)

    def copied_line(self, terminal: PageTerminal, row: int) -> str:
        """What a triple click into a row of the screen copies."""
        page = terminal.page
        screen = terminal.element.locator(".xterm-screen")
        box = screen.bounding_box()
        assert box is not None
        height = box["height"] / terminal.read()["rows"]
        put_into_clipboard(page, "")
        screen.click(click_count=3, position={"x": 40, "y": height * (row + 0.5)})
        page.keyboard.press("Control+Shift+C")
        wait_until_on_page(page, "a copy", lambda: read_clipboard(page))
        return (read_clipboard(page) or "").rstrip()

    def test_wrapped_line_is_selected_whole_and_follows_a_wider_window(self) -> None:
        daemon = self.daemon()
        session = self.session(daemon)
        text = "".join(f"{n:03d} 日本 " for n in range(60)).rstrip()
        (daemon.home / "line").write_text(text)
        terminal = self.opened(daemon.url)
        terminal.run(r"clear; printf '\e[41m'; cat line; printf '\e[m\n'; echo end-$((40 + 2))")
        terminal.wait("end-42")
        self.assertEqual(text, self.copied_line(terminal, 1))
        terminal.page.reload()
        terminal.ready().wait("end-42")
        self.assertEqual(text, self.copied_line(terminal, 1))
        other = self.opened(daemon.url).wait("end-42")
        self.assertEqual(text, self.copied_line(other, 1))
        self.assertIn(text, ask_terminal(daemon, session))
        other.page.close()
        page, before = terminal.page, terminal.read()["cols"]
        size = page.viewport_size
        assert size is not None
        page.set_viewport_size({"width": size["width"] + 300, "height": size["height"]})
        wait_until_on_page(page, "more columns", lambda: terminal.read()["cols"] > before)
        expect_same(daemon, session, terminal)
        self.assertEqual(text, self.copied_line(terminal, 1))


def ask_terminal(daemon: DaemonHarness, session: str) -> list[str]:
    """The lines that the service tells of the whole terminal, without their styles."""
    path = f"/api/sessions/{session}/terminal?full=1"
    read = daemon.request("GET", path).data()["terminalBuffer"]
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", read).split("\r\n")


class LossTests(BrowserCase):
    # The echo of typed characters is loaded when the connection is slow, which may be at a cut.
    expected = (*LOST, r"net::ERR_FAILED \(.*/assets/localecho-")

    def test_screen_is_exact_after_connection_cuts_in_a_flood(self) -> None:
        """Cut at random bytes, the screen ends as tmux has it, without a line missing or twice."""
        daemon = self.daemon()
        session = self.session(daemon)
        relay = BrowserRelay(int(urlsplit(daemon.url).port or 0))
        self.addCleanup(relay.close)
        terminal = self.terminal(f"http://127.0.0.1:{relay.port}/")
        chance = random.Random(2718)
        (daemon.home / "flood").write_text(FLOOD)
        terminal.run("source ./flood")
        for cut in range(CUTS):
            relay.cut_after(chance.randrange(1, 8_000))
            self.await_cut(terminal, relay, cut + 1)
        self.assertFalse(terminal.has("end-42"), "the flood was over before the last cut")
        (daemon.home / "cuts").touch()
        terminal.wait("end-42")
        expect_same(daemon, session, terminal)
        seen = numbers(terminal.read()["lines"])
        last = int((daemon.home / "last").read_text())
        self.assertEqual(list(range(seen[0], last + 1)), seen)
        terminal.run("echo after-$((1 + 1))").wait("after-2")
        expect_same(daemon, session, terminal)

    def test_input_typed_over_a_half_open_connection_runs_once(self) -> None:
        """A network that is gone without a word: what was typed meanwhile runs once."""
        daemon = self.daemon()
        session = self.session(daemon)
        relay = BrowserRelay(int(urlsplit(daemon.url).port or 0))
        self.addCleanup(relay.close)
        terminal = self.terminal(f"http://127.0.0.1:{relay.port}/")
        terminal.run("echo 1 >> seen; echo was-$((1 + 1))").wait("was-2")
        relay.silence()
        terminal.run("echo 2 >> seen; echo is-$((2 + 1))").wait("is-3")
        self.assertEqual("1\n2\n", (daemon.home / "seen").read_text())
        expect_same(daemon, session, terminal)

    def await_cut(self, terminal: PageTerminal, relay: BrowserRelay, count: int) -> None:
        wait_until_on_page(terminal.page, f"cut {count}", lambda: relay.cuts >= count)

    def test_input_typed_around_a_daemon_crash_runs_once_in_order(self) -> None:
        """What is typed before, during and after a crash arrives once, in order."""
        place = self.held()
        daemon = self.daemon_at(place)
        session = self.session(daemon)
        terminal = self.terminal(daemon.url)
        terminal.run("echo 1 >> seen; echo was-$((1 + 1))").wait("was-2")
        pid = self.record(daemon, session)["pid"]
        daemon.kill()
        page = terminal.page
        wait_until_on_page(page, "a lost link", lambda: terminal.attribute("link") == "retrying")
        terminal.run("echo 2 >> seen").run("echo 3 >> seen")
        banner = page.get_by_test_id("banner")
        wait_until_on_page(page, "a notice", lambda: "keystrokes queued" in banner.inner_text())
        self.assertFalse(page.get_by_test_id("reconnecting").is_visible(), "one message is enough")
        daemon.start(listen=(place,))
        wait_until_on_page(page, "an open link", lambda: terminal.attribute("link") == "open")
        terminal.run("echo 4 >> seen; echo is-$((2 + 1))").wait("is-3")
        self.assertEqual("1\n2\n3\n4\n", (daemon.home / "seen").read_text())
        self.assertEqual(pid, self.record(daemon, session)["pid"])
        expect_same(daemon, session, terminal)
        wait_until_on_page(page, "no banner", lambda: page.locator(".banner").count() == 0)
