"""Asking for suggestions (protocol-suggestions)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.fakes.child_processes import FIRST_PID
from tests.unit.right_checks import DENIED
from tests.unit.suggestions.harness import GOOD, MindCase
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.users.os_users import OsUserId, make_user_prefix
from tservice.suggestions.oneshot_command import OUTPUT_LIMIT, TIME_LIMIT
from tservice.suggestions.suggester import AT_ONCE, OF_ONE


class SuggestTests(MindCase):
    def test_cli_is_asked_once_by_a_prompt_file(self) -> None:
        """Nothing of what was observed is on its command line, nothing is left behind."""
        self.said["text"] = "secret answer"
        self.item = {"message": "May I?"}
        asking = self.ask(steer="be brief", rejected=["no"])
        words = self.processes.argv[0]
        self.assertTrue(words[words.index("--") + 1].endswith("/claude"))
        self.assertIn("--tools", words)
        self.assertNotIn("secret", " ".join(words))
        for text in ("secret answer", "May I?", "be brief", "- no", "branch topic"):
            self.assertIn(text, self.processes.prompt)
        self.assertEqual(0o600, self.processes.mode)
        self.assertFalse([name for name in self.processes.env[0] if name.startswith("SERVICE_")])
        self.clock.advance(2)
        self.processes.answers(json.dumps({"type": "result", "result": json.dumps(GOOD)}))
        found = self.successResultOf(asking)
        self.assertEqual(["Go on"], [each.prompt for each in found["suggestions"]])
        self.assertEqual(2000, found["ended"] - found["began"])
        self.assertEqual([], list((self.machine.config.data_dir / "mind").iterdir()))
        self.assertEqual(b"", bytes(self.pane(self.session).typed))

    def test_chosen_model_is_used(self) -> None:
        self.set(read_my_mind_model="haiku")
        self.ask().addErrback(lambda _: None)
        self.assertEqual(["--model", "haiku"], self.processes.argv[0][-2:])

    def test_switched_off_feature_is_refused(self) -> None:
        self.set(read_my_mind_enabled=False)
        with self.assertRaises(ServiceError) as caught:
            self.mind.require_enabled()
        self.assertEqual(ErrorCode.FORBIDDEN, caught.exception.code)
        self.assertIn("readMyMindEnabled", caught.exception.message)

    def test_only_listed_modes_are_supported(self) -> None:
        codex = self.create(mode="codex", start=True)
        text = self.assert_refused(
            ErrorCode.INVALID_INPUT,
            self.mind.suggest_prompts(codex.id, granted=True, caller=GRANTED),
        )
        self.assertIn("codex", text)
        self.set(read_my_mind_modes=("codex", "shell"))
        self.assert_refused(
            ErrorCode.INVALID_INPUT,
            self.mind.suggest_prompts(self.session.id, granted=True, caller=GRANTED),
        )
        shell = self.shell()
        self.assertIn(
            "cannot make suggestions",
            self.assert_refused(
                ErrorCode.INVALID_INPUT,
                self.mind.suggest_prompts(shell.id, granted=True, caller=GRANTED),
            ),
        )
        self.ask(codex).addErrback(lambda _: None)
        self.assertIn("exec", self.processes.argv[0])

    def test_cli_runs_as_the_os_user_of_the_session(self) -> None:
        """Root becomes that user first, and has seen nothing of the environment by then."""
        ann = self.machine.os_users.add("ann", 1001)
        hers = self.create(mode="primary", env_overrides={"ANTHROPIC_API_KEY": "sk"})
        self.machine.os_users.accounts |= {"ann": "ann"}
        self.sessions.update_record(hers.id, os_user=OsUserId(name="ann", uid=1001), owner="ann")
        asking = self.ask(hers)
        words, env = self.processes.argv[0], self.processes.env[0]
        start = words.index("/bin/sh")
        self.assertEqual(make_user_prefix("/s", "/p", ann), words[:start])
        self.assertTrue(words[start + 4].endswith("/claude"), words)
        self.assertIn("--print", words)
        self.assertNotIn("sk", words)
        self.assertTrue(all(name.startswith("TSERVICE_GIVEN_") for name in env), env)
        self.assertEqual("sk", env["TSERVICE_GIVEN_ANTHROPIC_API_KEY"])
        self.assertEqual(str(ann.home), env["TSERVICE_GIVEN_HOME"])
        stands = Path(self.processes.calls[0]["path"])
        self.assertTrue(stands.is_dir())
        self.processes.answers(json.dumps(GOOD))
        self.assertEqual("Go on", self.successResultOf(asking)["suggestions"][0].prompt)
        self.assertFalse(stands.exists())
        self.assertEqual({"ann"}, set(self.machine.os_users.acted))

    def test_override_set_with_the_grant_still_needs_it(self) -> None:
        """Nothing runs with what a start would refuse by now."""
        asked = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        session = self.create(mode="primary", env_overrides=asked)
        refused = self.failureResultOf(self.ask(session, granted=False), ServiceError).value
        self.assertEqual(ErrorCode.FORBIDDEN, refused.code)
        self.assertIn("ANTHROPIC_BASE_URL", refused.message)
        self.assertEqual([], self.processes.argv)
        self.ask(session).addErrback(lambda _: None)
        self.assertEqual(1, len(self.processes.argv))

    def test_account_with_another_os_user_is_refused(self) -> None:
        """It has nothing started as the one that it had before."""
        self.machine.os_users.add("ann", 1001)
        self.sessions.update_record(
            self.session.id, os_user=OsUserId(name="ann", uid=1001), owner="ann"
        )
        self.machine.os_users.accounts |= {"ann": "eve"}
        refused = self.failureResultOf(self.ask(), ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, refused.code)
        self.assertEqual([], self.processes.argv)

    def test_right_or_setting_lost_while_collecting_starts_no_cli(self) -> None:
        """The right, or the setting: the CLI is not started then."""
        self.failureResultOf(self.ask(caller=DENIED), ServiceError)
        held: Deferred[None] = Deferred()

        async def slow(session_id: str) -> Mapping[str, Any]:
            await held
            return {"repos": []}

        self.mind = self.make_mind(git=slow)
        asking = self.ask()
        self.set(read_my_mind_enabled=False)
        held.callback(None)
        refused = self.failureResultOf(asking, ServiceError).value
        self.assertEqual(ErrorCode.FORBIDDEN, refused.code)
        self.assertEqual([], self.processes.argv)
        self.assertEqual([], list((self.machine.config.data_dir / "mind").iterdir()))

    def test_suggestions_run_one_at_a_time_per_session_and_few_in_total(self) -> None:
        self.ask().addErrback(lambda _: None)
        self.assert_refused(
            ErrorCode.CONFLICT,
            self.mind.suggest_prompts(self.session.id, granted=True, caller=GRANTED),
        )
        for _ in range(AT_ONCE - 1):
            self.ask(self.create(mode="primary", start=True)).addErrback(lambda _: None)
        more = self.create(mode="primary", start=True)
        self.assert_refused(
            ErrorCode.RATE_LIMITED, self.mind.suggest_prompts(more.id, granted=True, caller=GRANTED)
        )
        self.processes.spawned[0].finish(0)
        self.ask(more).addErrback(lambda _: None)
        self.assertEqual(AT_ONCE + 1, len(self.processes.spawned))

    def test_suggestions_for_one_account_leave_room_for_others(self) -> None:
        own = [self.create(mode="primary", start=True) for _ in range(OF_ONE + 1)]
        for session in own:
            self.sessions.update_record(session.id, owner="ann")
        for session in own[:-1]:
            self.ask(session).addErrback(lambda _: None)
        self.assert_refused(
            ErrorCode.RATE_LIMITED,
            self.mind.suggest_prompts(own[-1].id, granted=True, caller=GRANTED),
        )
        self.ask().addErrback(lambda _: None)
        self.assertEqual(OF_ONE + 1, len(self.processes.spawned))

    def test_unusable_output_is_an_error(self) -> None:
        for printed, why in (
            ("I cannot do that.", "JSON"),
            (b"\xff\xfe", "JSON"),
            ("{}", "1 to 3"),
        ):
            asking = self.ask()
            self.processes.answers(printed)
            self.assert_unusable(asking, why)

    def test_crashed_cli_is_an_error(self) -> None:
        for ending, why in (((3, None), "status 3"), ((None, 11), "a signal")):
            asking = self.ask()
            self.processes.spawned[-1].protocol.outReceived(json.dumps(GOOD).encode())
            self.processes.spawned[-1].finish(*ending)
            self.assert_unusable(asking, why)

    def test_too_much_output_kills_the_cli(self) -> None:
        asking = self.ask()
        for _ in range(40):
            if self.processes.spawned[-1].pid is not None:
                self.processes.spawned[-1].protocol.outReceived(b" " * (OUTPUT_LIMIT // 20))
        self.assertEqual([FIRST_PID], self.processes.killed[:1])
        self.assert_unusable(asking, "printed too much")

    def test_hanging_cli_is_killed(self) -> None:
        asking = self.ask()
        self.clock.advance(TIME_LIMIT - 1)
        self.assertNoResult(asking)
        self.clock.advance(1)
        self.assertEqual(FIRST_PID, self.processes.killed[0])
        self.assert_unusable(asking, "longer than 85 s")

    def test_disconnected_client_kills_the_cli(self) -> None:
        asking = self.ask()
        asking.addErrback(lambda _: None).cancel()
        self.assertEqual(FIRST_PID, self.processes.killed[0])
        self.ask().addErrback(lambda _: None)
        self.assertEqual(2, len(self.processes.spawned))

    def test_slow_end_of_a_cli_is_not_taken_for_the_next_one(self) -> None:
        """Its end is not taken for that of the next one."""
        self.processes.obeys_kill = False
        self.ask().addErrback(lambda _: None).cancel()
        asking = self.ask()
        self.processes.spawned[0].finish(0)
        self.run_now(self.sessions.delete(self.session.id))
        self.assertEqual([FIRST_PID, FIRST_PID + 1], self.processes.killed)
        self.processes.spawned[1].finish(None, 9)
        self.assertEqual(ErrorCode.NOT_FOUND, self.failureResultOf(asking, ServiceError).value.code)

    def test_deleted_session_kills_its_cli(self) -> None:
        asking = self.ask()
        self.run_now(self.sessions.delete(self.session.id))
        error = self.failureResultOf(asking, ServiceError).value
        self.assertEqual((ErrorCode.NOT_FOUND, FIRST_PID), (error.code, self.processes.killed[0]))

    def test_stopped_service_kills_the_cli(self) -> None:
        asking = self.ask()
        self.successResultOf(self.mind.stop())
        self.assert_unusable(asking, "the service stops")

    def test_processes_started_by_the_cli_end_with_it(self) -> None:
        asking = self.ask()
        self.processes.answers(json.dumps(GOOD))
        self.successResultOf(asking)
        self.assertIn(FIRST_PID, self.processes.killed)

    def test_failed_cli_start_is_an_error(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        self.assertIn(
            "temporarily",
            self.assert_refused(
                ErrorCode.OPERATION_FAILED,
                self.mind.suggest_prompts(self.session.id, granted=True, caller=GRANTED),
            ),
        )
        self.processes.error = None
        self.ask().addErrback(lambda _: None)
