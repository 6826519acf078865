"""What a resize and a half-drawn frame do to an item: nothing (protocol-approvals)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.event_helpers import to_wire
from tests.examples import example_count
from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page
from tests.unit.agents.harness import COMPOSER, RULE
from tests.unit.agents.recorded_dialogs import RecordedDialog, recorded_dialogs_of
from tservice.agents.approvals.hook_reports import REMEMBERED
from tservice.agents.approvals.model import ApprovalItem, ApprovalResolution
from tservice.agents.approvals.responses import make_item_response
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.interfaces import Session

SETTINGS = settings(
    max_examples=example_count(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MODES = {"claude": "primary", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}
HOOK = {"tool_name": "Bash", "tool_input": {"command": "rm -rf made"}, "cwd": "/srv"}
REMOVE = {"tool_name": "Bash", "tool_input": {"command": "rm -rf ./build"}}
ASKED = (
    f"{RULE}\n Bash command\n\n   rm -rf ./build\n   Remove the build\n\n Do you want to proceed?\n"
    " ❯ 1. Yes\n   2. Yes, and don’t ask again for: rm *\n   3. No\n\n"
    " Esc to cancel · Tab to amend"
)
"""A permission dialog as a whole."""


@cache
def dialogs() -> tuple[RecordedDialog, ...]:
    """Every recorded dialog that makes an item."""
    return tuple(each for cli in MODES for each in recorded_dialogs_of(cli))


@frozen
class FrameDistortion:
    """How a frame differs for a moment, or for good where C{lasts}."""

    kind: str
    amount: int
    lasts: bool = False

    def of(self, rows: Sequence[str], cols: int, tall: int) -> list[str]:
        """The rows as the screen has them meanwhile."""
        amount = self.amount
        if self.kind == "top":
            return list(rows[min(amount, len(rows) - 1) :])
        if self.kind == "bottom":
            # Something of the dialog stays: without any of it a spinner says that it is over.
            return list(rows[: len(rows) - min(amount, tall - 2)])
        if self.kind == "hole":
            start = amount % len(rows)
            return [row if not start <= at < start + 3 else "" for at, row in enumerate(rows)]
        if self.kind == "twice":
            return [*rows[-amount:], *rows][-len(rows) :]
        if self.kind == "unreadable":
            return ["\ufffd" * (amount + at) for at in range(amount)]
        width = max(20, cols - amount)
        if self.kind == "crop":
            return [row[:width] for row in rows]
        # As tmux wraps what is there, before the program draws anew.
        return [row[at : at + width] for row in rows for at in range(0, max(1, len(row)), width)]


HALF_DRAWN = ("top", "bottom", "hole", "twice", "unreadable")
AMOUNTS = st.integers(1, 30)


def distortions(shown: RecordedDialog) -> st.SearchStrategy[list[FrameDistortion]]:
    """What may come between two whole frames."""
    # The highlight of opencode is colour, so its rows cannot be cut by letters.
    resized = ("top",) if shown.cli == "opencode" else ("top", "crop", "wrap")
    brief = st.builds(FrameDistortion, st.sampled_from((*HALF_DRAWN, *resized)), AMOUNTS)
    lasts = (*resized, "unreadable")
    lasting = st.builds(FrameDistortion, st.sampled_from(lasts), AMOUNTS, st.just(True))
    return st.lists(st.one_of(brief, lasting), min_size=1, max_size=6)


class AskingCase(ApprovalCase):
    """A permission whose hook named the tool, on a screen that the test draws."""

    def asked_by_hook(self, screen: str = ASKED, hook: dict[str, Any] = REMOVE) -> Session:
        session = self.ready()
        self.show(session, screen)
        self.hook(session, "permission_prompt", **hook)
        self.spend(3)
        self.told()
        return session

    def told_of(self, session: Session) -> tuple[str | None, str | None]:
        item = self.item(session)
        return item.tool_name, item.tool_summary


class RecordedQuestionIdentityTests(AskingCase):
    """Random resizes and partial frames over every recorded dialog."""

    def setUp(self) -> None:
        super().setUp()
        self.open: dict[str, Session] = {}

    def test_recorded_dialogs_cover_all_clis(self) -> None:
        self.assertEqual(set(MODES), {each.cli for each in dialogs()})
        self.assertGreater(len(dialogs()), 100)

    @SETTINGS
    @given(st.data())
    def test_partial_frames_and_resizes_keep_the_question(self, data: st.DataObject) -> None:
        shown = data.draw(st.sampled_from(dialogs()))
        self.stays(shown, data.draw(distortions(shown)))

    def test_dialog_cut_off_at_the_top_keeps_its_question(self) -> None:
        for shown in dialogs():
            tall = len(shown.dialog.context)
            self.stays(
                shown, [FrameDistortion("top", at, at % 4 == 0) for at in range(1, tall + 4, 3)]
            )

    def stays(self, shown: RecordedDialog, meanwhile: list[FrameDistortion]) -> None:
        session = self.session_of(shown)
        rows = self.drawn(session, shown)
        if shown.cli == "claude":
            self.hook(session, "permission_prompt", **HOOK)
        self.spend(4)
        before = self.item(session)
        self.told()
        for each in meanwhile:
            self.show(session, "\n".join(each.of(rows, shown.size[0], len(shown.dialog.context))))
            self.spend(5 if each.lasts else 0.35)
            self.assertEqual(kept(before), kept(self.inbox.get_item(session.id)), shown.name)
        self.drawn(session, shown)
        self.spend(5)
        now = self.item(session)
        self.assertEqual(kept(before), kept(now), shown.name)
        self.assertEqual(labels(before), labels(now), shown.name)
        self.assertEqual(set(), {name for name, _ in self.told()} - {"updated"}, shown.name)
        self.inbox.resolve_item(now, ApprovalResolution.IN_TERMINAL)
        self.show(session, COMPOSER)
        self.spend(5)

    def session_of(self, shown: RecordedDialog) -> Session:
        if shown.cli not in self.open:
            self.open[shown.cli] = self.agent("x", mode=MODES[shown.cli])
        return self.open[shown.cli]

    def drawn(self, session: Session, shown: RecordedDialog) -> list[str]:
        """Show it in a pane of its size; its rows."""
        self.pane(session).resize(*shown.size)
        plain = shown.cli != "opencode"
        text = "\n".join(shown.frame.rows) if plain else shown.data.decode()
        rows = text.rstrip("\n").split("\n")[: shown.size[1]]
        while plain and not rows[-1].strip():
            rows.pop()
        self.show(session, "\n".join(rows))
        return rows


def kept(item: ApprovalItem | None) -> dict[str, Any]:
    """What no frame may change."""
    told = to_wire(make_item_response(item)) if item else {}
    names = (
        *("id", "kind", "createdAt", "cwd", "message"),
        *("toolName", "toolSummary", "toolDigest", "toolMissing", "toolOther"),
        *("complete", "riskHint"),
    )
    return {name: told.get(name) for name in names}


def labels(item: ApprovalItem) -> list[str]:
    return [option.label for option in item.options]


class ResizedTests(AskingCase):
    """A smaller viewer takes the size of the terminal."""

    def test_dialog_that_was_always_cut_off_is_a_permission(self) -> None:
        session = self.asked_by_hook(ASKED[ASKED.index(" ❯ 1.") :])
        self.assertEqual("permission", self.item(session).kind)
        self.assertEqual(("Bash", "rm -rf ./build"), self.told_of(session))

    def test_dialog_cut_off_above_its_question_keeps_its_item(self) -> None:
        session = self.asked_by_hook()
        before = self.item(session)
        self.show(session, ASKED[ASKED.index(" Do you want") :])
        self.spend(5)
        self.assertEqual(before, self.item(session))
        self.assertEqual([], self.told())

    def test_cut_off_dialog_can_be_answered(self) -> None:
        session = self.ready()
        self.client(session).ask(permission_page("rm -rf ./build"))
        self.hook(session, "permission_prompt", **REMOVE)
        self.spend(3)
        shown = self.client(session).shown
        self.show(session, shown[shown.index(" Do you want") :])
        self.spend(5)
        self.give(self.item(session), "approve")
        self.assertEqual([("rm -rf ./build", "1")], self.client(session).left)

    def test_item_of_half_a_frame_becomes_whole(self) -> None:
        session = self.asked_by_hook(ASKED[: ASKED.index("   3. No")])
        self.assertEqual(2, len(self.item(session).options))
        self.show(session, ASKED)
        self.spend(5)
        item = self.item(session)
        self.assertEqual(f"{session.id}:1", item.id)
        self.assertEqual(3, len(item.options))
        self.assertIn("rm -rf ./build", item.context or "")

    def test_half_a_frame_below_a_spinner_ends_no_item(self) -> None:
        session = self.asked_by_hook()
        half = "✻ Slithering… (1s · ↓ 7 tokens)\n" + ASKED[: ASKED.index(" ❯ 1.")]
        self.show(session, half, "⠂ Claude Code")
        self.spend(0.35)
        self.show(session, ASKED, "✳ Claude Code")
        self.spend(5)
        self.assertEqual(f"{session.id}:1", self.item(session).id)
        self.assertEqual([], self.told())

    def test_newer_hook_makes_another_item(self) -> None:
        session = self.asked_by_hook()
        self.show(session, ASKED.replace("rm -rf ./build", "ls"))
        self.hook(session, "permission_prompt", tool_name="Bash", tool_input={"command": "ls"})
        self.spend(3)
        self.assertEqual(f"{session.id}:2", self.item(session).id)
        self.assertEqual(("Bash", "ls"), self.told_of(session))

    def test_dialog_with_another_command_makes_an_item_without_a_tool(self) -> None:
        session = self.asked_by_hook()
        self.show(session, ASKED.replace("rm -rf ./build", "shutdown -h now"))
        self.spend(5)
        self.assertEqual(f"{session.id}:2", self.item(session).id)
        self.assertEqual((None, None), self.told_of(session))
        self.assertIn("shutdown", self.item(session).context or "")


class SideBySideTests(AskingCase):
    """Agents that work side by side ask at once; one dialog is shown after the other."""

    def test_second_hook_does_not_rename_the_first_dialog(self) -> None:
        session = self.asked_by_hook()
        self.hook(session, "permission_prompt", tool_name="Bash", tool_input={"command": "ls -la"})
        self.spend(5)
        self.assertEqual(("Bash", "rm -rf ./build"), self.told_of(session))
        self.assertEqual([], self.told())
        self.show(session, ASKED.replace("rm -rf ./build", "ls -la"))
        self.spend(5)
        self.assertEqual(("Bash", "ls -la"), self.told_of(session))
        self.assertEqual(f"{session.id}:2", self.item(session).id)

    def test_second_hook_does_not_rename_a_truncated_dialog(self) -> None:
        session = self.asked_by_hook(ASKED[ASKED.index(" Do you want") :])
        self.hook(session, "permission_prompt", tool_name="Bash", tool_input={"command": "ls -la"})
        self.spend(5)
        self.assertEqual(("Bash", "rm -rf ./build"), self.told_of(session))

    def test_number_of_remembered_hooks_is_bounded(self) -> None:
        session = self.asked_by_hook()
        for at in range(2 * REMEMBERED):
            tool = {"tool_name": "Bash", "tool_input": {"command": f"make number-{at}"}}
            self.hook(session, "permission_prompt", **tool)
        self.spend(5)
        self.show(session, ASKED.replace("rm -rf ./build", "make number-0"))
        self.spend(5)
        self.assertEqual((None, None), self.told_of(session))
        last = f"make number-{2 * REMEMBERED - 1}"
        self.show(session, ASKED.replace("rm -rf ./build", last))
        self.spend(5)
        self.assertEqual(("Bash", last), self.told_of(session))


class WithoutHooksTests(AskingCase):
    """Of an agent without hooks the screen alone tells."""

    def asked_by_screen(self) -> Session:
        session = self.agent("x", mode="codex")
        self.spend(4)
        self.show(session, ASKED)
        self.spend(5)
        self.machine.events.clear()
        return session

    def test_truncated_dialog_is_announced_once(self) -> None:
        session = self.asked_by_screen()
        before = self.item(session)
        self.show(session, ASKED[ASKED.index("   Remove the build") :])
        self.spend(5)
        self.assertEqual(before, self.item(session))
        self.show(session, ASKED)
        self.spend(5)
        self.assertEqual(before, self.item(session))
        self.assert_signals([])

    def test_answer_for_a_longer_command_is_refused(self) -> None:
        session = self.asked_by_screen()
        item = self.item(session)
        self.show(session, ASKED.replace("rm -rf ./build", "rm -rf ."))
        self.spend(5)
        code, _ = self.refused_answer(item, "approve")
        self.assertEqual(ErrorCode.CONFLICT, code)
        self.assertEqual([], self.screen(session).pressed)
        self.assertIn("rm -rf .\n", self.item(session).context or "")
        self.assertEqual(f"{session.id}:2", self.item(session).id)
