"""Which terminal a pane's program is told it has."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import HERE
from tservice.mux.interface import PaneSpec
from tservice.mux.remote.remote_programs import build_start_command
from tservice.mux.terminfo import FALLBACK, TERMINAL, find_local_term
from tservice.mux.tmux.environment import build_environment


def spec(**env: str) -> PaneSpec:
    return PaneSpec(session_id="a", argv=("x",), env=env, cwd="/", place=HERE)


class TerminfoTests(SynchronousTestCase):
    def test_described_terminal_is_chosen(self) -> None:
        for path in ("/lib/terminfo/t/tmux-256color", "/usr/share/terminfo/74/tmux-256color"):
            self.assertEqual(TERMINAL, find_local_term(lambda asked, path=path: asked == path))  # type: ignore[misc]
        self.assertEqual(FALLBACK, find_local_term(lambda asked: asked.endswith(FALLBACK)))

    def test_terminal_type_is_added_where_none_is_named(self) -> None:
        found = build_environment(spec(), b"t", terminal=TERMINAL)
        self.assertEqual((b"tmux-256color", b"truecolor"), (found[b"TERM"], found[b"COLORTERM"]))
        self.assertEqual(b"tmux-256color", found[b"TSERVICE_PANE_TERM"])
        found = build_environment(spec(TERM="vt100", COLORTERM=""), b"t", terminal=TERMINAL)
        self.assertEqual((b"vt100", b""), (found[b"TERM"], found[b"COLORTERM"]))

    def test_remote_terminal_type_is_chosen_on_the_remote_host(self) -> None:
        there = build_start_command("s", spec(), b"t", b"")
        self.assertIn(b"/usr/share/terminfo/t/tmux-256color", there)
        self.assertNotIn(b"terminfo", build_start_command("s", spec(TERM="vt100"), b"t", b""))
