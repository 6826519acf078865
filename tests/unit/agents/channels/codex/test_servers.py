"""Codex' servers: evidence of turns, exact commands, and answers without a key."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from typing import Any

from twisted.internet.defer import ensureDeferred
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.channels.codex.played_server import THREAD, PlayedServer
from tests.unit.agents.dialog_client import permission_page
from tests.unit.agents.harness import PERMISSION, AgentHarnessCase
from tservice.agents.approvals.answer_delivery import AnswerChannel
from tservice.agents.channels.build import build_status_channel
from tservice.agents.channels.channel_answerer import ChannelAnswerer
from tservice.agents.channels.codex import servers as module
from tservice.agents.channels.codex.answers import ServerQuestions
from tservice.agents.channels.codex.servers import CodexServers
from tservice.agents.channels.codex.sockets import CodexSockets
from tservice.agents.channels.reported_status import ReportedStatus
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.interfaces import InputRequest, Session

READY = "› Ask Codex to do anything\n\n  stub-model default · /work"
YES = "Yes, proceed (y)"
MORE = "Yes, and don't ask again for commands that start with `touch` (p)"
NO = "No, and tell Codex what to do differently (esc)"


async def run_here(work: Any) -> None:
    work()


class ServerCase(ApprovalCase):
    """A session with a played server beside its screen."""

    def setUp(self) -> None:
        self.server = PlayedServer()
        self.statuses: list[str] = []
        super().setUp()

    def open_inbox(self) -> None:
        self.servers = CodexServers(
            self.clock,
            CodexSockets(Path("/run/channels"), run_here),
            self.server.connect,
            self.agents.hooks.handle_hook_event,
            self.agents.agents.capture_screen,
        )
        self.servers.on_status = self.add_status
        self.addCleanup(self.servers.close)
        super().open_inbox()

    @property
    def answers(self) -> AnswerChannel:
        return ChannelAnswerer(self.clock, ServerQuestions(self.servers))

    def add_status(self, session_id: str, status: ReportedStatus) -> None:
        self.statuses.append(status.words.removeprefix("app-server: "))

    def followed(self) -> Session:
        """A session whose server is listened to, with one conversation."""
        session = self.ready()
        self.spend(5)
        self.servers.follow_session(session.id)
        self.server.begin_thread()
        return session

    def asks(self, command: str = "touch made.txt", **more: Any) -> tuple[Session, int]:
        """A session whose agent asks."""
        session = self.followed()
        return session, self.ask_in(session, command, **more)

    def ask_in(self, session: Session, command: str, **more: Any) -> int:
        client = self.client(session)
        client.ask(permission_page(command, [YES, MORE, NO]))
        self.server.on_decision = client.leave
        asked = self.server.ask(command, **more)
        self.spend(3)
        return asked


class StatusTests(ServerCase):
    """Evidence of turns."""

    def test_state_of_the_conversation_is_told_once(self) -> None:
        self.followed()
        self.server.change("active")
        self.server.change("active")
        self.server.change("active", "waitingOnUserInput")
        self.server.change("idle")
        self.assertEqual(["idle", "busy", "waiting (user input)", "idle"], self.statuses)

    def test_title_and_subagent_are_no_turn_but_a_subagent_can_ask(self) -> None:
        self.followed()
        self.server.begin_thread("title", ephemeral=True)
        self.server.change("active", thread="title")
        self.server.begin_thread("child", parentThreadId=THREAD)
        self.server.change("active", thread="child")
        self.assertEqual(["idle"], self.statuses)
        self.server.change("active", "waitingOnApproval", thread="child")
        self.assertEqual(["idle", "waiting (approval)"], self.statuses)

    def test_turn_of_before_the_connection_is_read(self) -> None:
        session = self.ready()
        self.server.begin_thread()
        self.server.change("active")
        self.servers.follow_session(session.id)
        self.assertEqual(["busy"], self.statuses)

    def test_unknown_conversation_is_read_when_its_state_changes(self) -> None:
        session = self.ready()
        self.servers.follow_session(session.id)
        self.server.threads[THREAD] = {"id": THREAD, "ephemeral": False}
        self.server.change("active")
        self.assertEqual(["busy"], self.statuses)

    def test_lost_server_is_tried_again_after_a_pause(self) -> None:
        session = self.followed()
        self.server.refuses = True
        self.server.lose(self.server.clients[0])
        self.spend(module.RETRY)
        for _ in range(3):
            self.servers.follow_session(session.id)
        self.assertEqual(2, self.server.tried)
        self.server.refuses = False
        self.spend(module.RETRY)
        self.servers.follow_session(session.id)
        self.assertEqual((3, 1), (self.server.tried, len(self.server.clients)))

    def test_dropped_session_has_no_connection(self) -> None:
        session = self.followed()
        self.servers.drop_session(session.id)
        self.assertEqual((0, 0), (len(self.servers), len(self.server.clients)))
        self.servers.close()

    def test_everything_is_bounded(self) -> None:
        session = self.followed()
        for number in range(3 * module.MOST_THREADS):
            self.server.begin_thread(f"t{number}")
        for number in range(3 * module.MOST_REQUESTS):
            self.server.ask(f"echo {number}")
        (state,) = self.servers._servers.values()
        self.assertEqual(module.MOST_THREADS, len(state.threads))
        self.assertEqual(module.MOST_REQUESTS, len(state.requests))
        self.server.is_deaf = True
        for number in range(3 * module.MOST_CALLS):
            name = f"u{number}"
            self.server.broadcast("thread/status/changed", threadId=name, status={"type": "idle"})
        self.assertEqual(module.MOST_CALLS, len(state.calls))
        self.servers.drop_session(session.id)


class QuestionTests(ServerCase):
    """Exact commands in the inbox."""

    def test_item_has_the_exact_command(self) -> None:
        session, _ = self.asks()
        item = self.item(session)
        self.assertEqual(("Shell", "touch made.txt"), (item.tool_name, item.tool_summary))
        self.assertEqual((True, "/work"), (item.complete, item.cwd))

    def test_command_with_more_permissions_is_not_complete(self) -> None:
        session, _ = self.asks(additionalPermissions={"network": {"enabled": True}})
        self.assertEqual(
            (False, ("additionalPermissions",)),
            (self.item(session).complete, self.item(session).tool_other),
        )

    def test_item_ends_when_a_key_was_first(self) -> None:
        session, asked = self.asks()
        self.server.resolve(asked, "cancel")
        self.spend(1)
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertEqual(0, self.server.answers)

    def test_question_is_the_same_after_a_new_connection(self) -> None:
        session, _ = self.asks()
        before = self.item(session)
        self.server.lose(self.server.clients[0])
        self.spend(module.RETRY)
        self.servers.follow_session(session.id)
        self.spend(3)
        self.assertEqual(before, self.item(session))
        self.give(before, "approve")
        self.assertEqual({"touch made.txt": "accept"}, self.server.decisions)


class AnswerTests(ServerCase):
    """Answers through the server."""

    def pressed(self, session: Session) -> list[bytes]:
        return self.client(session).pressed

    def test_approval_and_denial_need_no_key(self) -> None:
        for action, fields, decision in (
            ("approve", {}, "accept"),
            ("option", {"option": 1}, "accept"),
            ("deny", {}, "cancel"),
            ("option", {"option": 3}, "cancel"),
        ):
            session, _ = self.asks()
            self.give(self.item(session), action, **fields)
            self.assertEqual({"touch made.txt": decision}, self.server.decisions)
            self.assertEqual([], self.pressed(session))
            self.assertIsNone(self.inbox.get_item(session.id))
            self.servers.drop_session(session.id)
            self.server.__init__()  # type: ignore[misc]

    def test_lasting_rule_is_left_to_the_keys(self) -> None:
        session, _ = self.asks()
        self.give(self.item(session), "option", option=2)
        self.assertEqual([b"2"], self.pressed(session))
        self.assertEqual(0, self.server.answers)

    def test_answer_that_the_server_does_not_take_is_left_to_the_keys(self) -> None:
        session, _ = self.asks(availableDecisions=["decline"])
        self.give(self.item(session), "approve")
        self.assertEqual([b"1"], self.pressed(session))

    def test_reason_is_refused(self) -> None:
        session, _ = self.asks()
        code, _ = self.refused_answer(self.item(session), "deny", reason="use mv")
        self.assertIs(ErrorCode.CONFLICT, code)
        self.assertEqual((0, []), (self.server.answers, self.pressed(session)))

    def test_key_since_the_question_leaves_it_to_the_keys(self) -> None:
        session, _ = self.asks()
        self.run_now(self.sessions.send_input(session.id, InputRequest(text="x")))
        self.spend(1)
        self.give(self.item(session), "approve")
        self.assertEqual(0, self.server.answers)

    def test_answer_after_a_key_changes_nothing(self) -> None:
        session, asked = self.asks()
        item = self.item(session)
        self.server.resolve(asked, "cancel")
        code, _ = self.refused_answer(item, "approve")
        self.assertIs(ErrorCode.CONFLICT, code)
        self.assertEqual((0, []), (self.server.answers, self.pressed(session)))
        self.assertEqual({"touch made.txt": "cancel"}, self.server.decisions)

    def test_answer_is_given_once(self) -> None:
        session, _ = self.asks()
        item = self.item(session)
        self.server.on_decision = lambda decision: None  # the screen does not change
        code, _ = self.refused_answer(item, "approve")
        self.assertIs(ErrorCode.OPERATION_FAILED, code)
        self.assertEqual(1, self.server.answers)
        self.client(session).leave("late")
        self.spend(2)
        self.refused_answer(item, "approve")
        self.assertEqual(1, self.server.answers)


class EvidenceTests(AgentHarnessCase):
    """A session of mode codex, as L{StatusChannel} follows it."""

    def setUp(self) -> None:
        super().setUp()
        self.server = PlayedServer()
        ground = self.machine.ground()
        sockets = CodexSockets(Path("/run/channels"), run_here)
        self.servers = CodexServers(
            self.clock,
            sockets,
            self.server.connect,
            self.agents.hooks.handle_hook_event,
            self.agents.agents.capture_screen,
        )
        self.channel = build_status_channel(
            ground,
            self.agents.agents,
            self.machine.clis,
            lambda: self.sessions,
            self.servers,
            sockets,
        )
        self.channel.start(self.machine.hub)
        self.addCleanup(self.channel.close)

    def test_turn_is_told_by_the_server(self) -> None:
        session = self.agent(READY, mode="codex")
        self.spend(5)
        self.server.begin_thread()
        self.server.change("active")
        self.spend(0.6)
        self.assertEqual(("busy", "app-server: busy"), self.status(session))
        self.server.change("idle")
        self.spend(0.15)
        self.assertEqual(("idle", "app-server: idle"), self.status(session))

    def test_difference_to_the_screen_is_reported(self) -> None:
        session = self.agent(READY, mode="codex")
        self.spend(5)
        self.server.begin_thread()
        self.server.change("active", "waitingOnApproval")
        self.spend(4)
        words = "app-server: waiting (approval), screen: idle"
        self.assertEqual(words, self.sessions.get(session.id).status_conflict)

    def test_page_of_a_person_is_no_difference(self) -> None:
        session = self.agent(READY, mode="codex")
        self.spend(5)
        self.server.begin_thread()
        self.show(session, PERMISSION)
        self.spend(5)
        self.assertIsNone(self.sessions.get(session.id).status_conflict)
        self.assertEqual(0, self.channel.disagreements)

    def test_setting_and_deletion_end_the_connection(self) -> None:
        session = self.agent(READY, mode="codex")
        self.spend(5)
        self.assertEqual((1, 1), (len(self.servers), len(self.server.clients)))
        self.run_now(self.sessions.delete(session.id))
        self.assertEqual((0, 0), (len(self.servers), len(self.server.clients)))
        self.change_settings(agent_channels_off=("codex",))
        self.agent(READY, mode="codex")
        self.spend(5)
        self.assertEqual((0, 1), (len(self.servers), self.server.tried))

    def test_other_modes_have_no_server(self) -> None:
        self.ready()
        self.assertEqual(0, self.server.tried)


class SocketTests(SynchronousTestCase):
    """L{CodexSockets}."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory(prefix="ts-")
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.sockets = CodexSockets(self.folder / "channels", run_here)

    def test_only_the_user_can_enter_the_folder(self) -> None:
        self.assertTrue(self.sockets.make_folder())
        (self.folder / "channels").chmod(0o755)
        self.assertFalse(self.sockets.make_folder())

    def test_path_that_is_too_long_is_no_socket(self) -> None:
        self.assertIsNone(CodexSockets(Path("/" + "x" * 90), run_here).get_path("a" * 36))

    def test_link_and_own_socket_are_removed_and_nothing_else(self) -> None:
        self.sockets.make_folder()
        for folder, is_removed in (("codex-daemon-0", True), ("elsewhere", False)):
            target = self.folder / folder / "s"
            target.parent.mkdir()
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(target))
            target.with_name("s.lock").touch()
            path = self.sockets.get_path("one")
            assert path is not None
            path.symlink_to(target)
            self.successResultOf(ensureDeferred(self.sockets.remove("one")))
            self.assertFalse(path.is_symlink())
            self.assertEqual(is_removed, not target.exists())
            self.assertEqual(is_removed, not target.with_name("s.lock").exists())
        self.successResultOf(ensureDeferred(self.sockets.remove("one")))
