"""What is read of a Codex server's messages."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.channels.codex.played_server import DECISIONS, REQUEST, THREAD
from tservice.agents.channels.codex.messages import (
    parse_message,
    parse_request,
    parse_thread,
    unwrap_shell,
)
from tservice.agents.channels.reported_status import ReportedState


class ShellTests(SynchronousTestCase):
    """L{unwrap_shell}."""

    def test_script_of_a_shell_is_taken_out_of_its_quotes(self) -> None:
        recorded = '/bin/bash -lc "touch it\\"\'s "\'$x `y`.txt && echo "a b" \'"\'c d\'"'
        for command, script in (
            ("/bin/bash -lc 'touch one.txt'", "touch one.txt"),
            (recorded, "touch it\"'s $x `y`.txt && echo \"a b\" 'c d'"),
            ("bash -lc ls", "ls"),
            ('/usr/bin/zsh -c "a \\$x \\q"', "a $x \\q"),
            ("sh -c a\\ b", "a b"),
            ("bash -lc 'a\nb'", "a\nb"),
            ("bash -lc ''", ""),
        ):
            self.assertEqual(script, unwrap_shell(command))

    def test_other_commands_stay_as_they_are(self) -> None:
        for command in (
            "touch 'one two'",
            "bash -lc 'a' b",
            "bash -x 'a'",
            "python -c 'a'",
            "bash -lc 'a",
            "bash -lc \\",
            "",
        ):
            self.assertEqual(command, unwrap_shell(command))


class RequestTests(SynchronousTestCase):
    """L{parse_request}."""

    def message(self, **more: Any) -> dict[str, Any]:
        given = {"threadId": THREAD, "command": "ls", "availableDecisions": DECISIONS, **more}
        return {"method": REQUEST, "id": 0, "params": given}

    def test_question_about_a_command_is_read(self) -> None:
        found = parse_request(self.message(cwd="/work", reason="why", kind="command"))
        assert found is not None
        self.assertEqual((0, frozenset({"accept", "cancel"})), (found.id, found.decisions))
        self.assertEqual({"command": "ls"}, found.data["tool_input"])
        self.assertEqual(("/work", "why"), (found.data["cwd"], found.data["message"]))

    def test_whatever_widens_the_command_is_part_of_the_question(self) -> None:
        for more in (
            {"kind": "writeStdin"},
            {"additionalPermissions": {"network": {"enabled": True}}},
            {"networkApprovalContext": {"host": "a.example"}},
            {"environmentId": "elsewhere"},
            {"somethingNew": 1},
        ):
            found = parse_request(self.message(**more))
            assert found is not None
            self.assertEqual({"command": "ls", **more}, found.data["tool_input"])

    def test_other_messages_are_no_question(self) -> None:
        for message in (
            {},
            {"method": REQUEST},
            {**self.message(), "id": True},
            {**self.message(), "id": None},
            {**self.message(), "params": []},
            {**self.message(), "method": "item/fileChange/requestApproval"},
            self.message(threadId=7),
            self.message(threadId="x" * 101),
            self.message(command=None),
        ):
            self.assertIsNone(parse_request(message), message)

    def test_strange_payloads_are_no_messages(self) -> None:
        for payload in (b"", b"[]", b"{", b"7", b"\xff", b"[" * 100_000):
            self.assertIsNone(parse_message(payload), payload[:20])


class ThreadTests(SynchronousTestCase):
    """L{parse_thread}."""

    def test_state_and_kind_are_read(self) -> None:
        def active(*flags: str) -> dict[str, Any]:
            return {"type": "active", "activeFlags": list(flags)}

        for status, state, waits in (
            ({"type": "idle"}, ReportedState.IDLE, ""),
            ({"type": "systemError"}, ReportedState.IDLE, ""),
            (active(), ReportedState.BUSY, ""),
            (active("new"), ReportedState.BUSY, ""),
            (active("waitingOnApproval"), ReportedState.WAITING, "approval"),
            (active("waitingOnUserInput"), ReportedState.WAITING, "user input"),
        ):
            found = parse_thread({"id": THREAD, "ephemeral": False, "status": status})
            assert found is not None
            self.assertEqual((state, waits, True), (found.state, found.waiting_for, found.is_main))

    def test_titles_and_subagents_are_no_main_conversations(self) -> None:
        base = {"id": THREAD, "ephemeral": False, "status": {"type": "idle"}}
        title = parse_thread({**base, "ephemeral": True})
        child = parse_thread({**base, "parentThreadId": "p"})
        assert title is not None
        assert child is not None
        self.assertEqual((False, False), (title.is_main, title.is_shown))
        self.assertEqual((False, True), (child.is_main, child.is_shown))

    def test_what_is_not_understood_is_no_conversation(self) -> None:
        strange: tuple[object, ...] = (
            None,
            [],
            {"id": THREAD},
            {"id": 7, "status": {"type": "idle"}},
            {"id": THREAD, "status": {"type": "notLoaded"}},
            {"id": THREAD, "status": 1},
        )
        for found in strange:
            self.assertIsNone(parse_thread(found))
