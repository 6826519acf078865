"""Asking for suggestions, and what is kept of what was said (protocol-suggestions)."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessTerminated
from twisted.python.failure import Failure

from tests.told import happened
from tests.unit.late import denied
from tests.unit.sessions.rig import SessionCase, begin
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.users.osuser import OsUserId, run_as
from tservice.mind.child import OUTPUT_LIMIT, TIME_LIMIT, Child
from tservice.mind.intents import Intents
from tservice.mind.interfaces import GitState
from tservice.mind.predict import AT_ONCE, OF_ONE, Mind, Sources
from tservice.mind.store import KEPT, IntentStore
from tservice.sessions.build import session_places
from tservice.sessions.record.model import Session
from tservice.settings.model import Settings

GOOD = {"suggestions": [{"prompt": "Go on", "why": "It stopped", "kind": "continue"}]}


class Processes:
    """Starts nothing; the test plays the child.

    @ivar prompt: what the last one could read on its standard input.
    """

    def __init__(self) -> None:
        self.children: list[Child] = []
        self.argv: list[list[str]] = []
        self.env: list[Mapping[str, str]] = []
        self.killed: list[int] = []
        self.prompt = self.stands = ""
        self.slow = False
        self.error: OSError | None = None

    def spawnProcess(
        self, child: Child, program: str, argv: list[str], env: Any, path: str, childFDs: Any
    ) -> None:
        if self.error is not None:
            raise self.error
        self.argv.append(argv)
        self.stands = path
        self.env.append(env)
        self.mode = stat.S_IMODE(os.fstat(childFDs[0]).st_mode)
        self.prompt = os.read(childFDs[0], 100_000).decode()
        self.children.append(child)
        child.makeConnection(Transport(4000 + len(self.children)))

    def kill_group(self, group: int, number: int) -> None:
        self.killed.append(group)
        child = self.children[group - 4001]
        if child.transport.pid is not None and number == signal.SIGKILL and not self.slow:
            self.ends(child, signal_number=9)

    def ends(self, child: Child, status: int = 0, signal_number: int | None = None) -> None:
        """It is over."""
        transport: Any = child.transport
        transport.pid = None
        failed = status or signal_number
        value = (
            ProcessTerminated(None if signal_number else status, signal_number)
            if failed
            else ProcessDone(0)
        )
        child.processExited(Failure(value))
        child.processEnded(Failure(value))

    def answers(self, printed: str | bytes, status: int = 0) -> None:
        """The last one prints, and ends."""
        child = self.children[-1]
        child.outReceived(printed if isinstance(printed, bytes) else printed.encode())
        if child.transport.pid is not None:
            self.ends(child, status)


class Transport:
    """A child's process."""

    def __init__(self, pid: int) -> None:
        self.pid: int | None = pid

    def loseConnection(self) -> None:
        """Its pipes are closed."""

    def signalProcess(self, name: str) -> None:
        raise AssertionError("the group was there to be killed")


class MindCase(SessionCase):
    """A primary session, and everything that suggestions are made from in the test's hand."""

    def setUp(self) -> None:
        super().setUp()
        machine = self.machine
        self.said: dict[str, Any] = {"text": "It is done.", "messages": []}
        self.item: dict[str, Any] | None = None
        self.processes = Processes()
        self.set(read_my_mind_enabled=True)
        self.work = machine.folder / "work"
        self.work.mkdir()
        self.session = self.create(mode="primary", working_dir=str(self.work), start=True)
        self.store = IntentStore(machine.database)
        self.intents = Intents(
            clock=self.clock,
            hub=machine.hub,
            store=self.store,
            settings=machine.settings,
            sessions=self.sessions,
            threads=machine.ground().doors.files,
            places=machine.ground().places,
            conversation=self.conversation,
        )
        self.mind = self.make_mind()
        left = machine.config.data_dir / "mind" / "ask-old" / "prompt"
        left.parent.mkdir(parents=True)
        left.touch()
        self.intents.start()
        self.mind.start()
        self.assertFalse(left.parent.parent.exists())
        self.addCleanup(self.mind.stop)

    def make_mind(self, git: GitState | None = None) -> Mind:
        machine = self.machine
        return Mind(
            clock=self.clock,
            processes=self.processes,  # type: ignore[arg-type]
            hub=machine.hub,
            settings=machine.settings,
            sessions=self.sessions,
            clis=machine.clis,
            places=machine.ground().places,
            starting=session_places(machine.ground()).starting,
            threads=machine.ground().doors.files,
            sources=Sources(
                intents=self.intents,
                conversation=self.conversation,
                git=git or self.git,
                pending=lambda session_id: self.item,
            ),
            folder=machine.config.data_dir / "mind",
            random=lambda count: b"\x07" * count,
            make=lambda clock: Child(clock, self.processes.kill_group),
        )

    async def conversation(self, session_id: str) -> Mapping[str, Any]:
        return self.said

    async def git(self, session_id: str) -> Mapping[str, Any]:
        return {"repos": [{"path": ".", "status": {"branch": "topic"}}]}

    def set(self, **fields: Any) -> None:
        now = self.machine.settings.now
        self.machine.settings.now = Settings.model_construct(**{**dict(now), **fields})

    def ask(self, session: Session | None = None, **given: Any) -> Deferred[dict[str, Any]]:
        given.setdefault("granted", True)
        return begin(self.mind.suggest((session or self.session).id, **given))

    def assert_unusable(self, asking: Deferred[Any], why: str) -> None:
        error: ServiceError = self.failureResultOf(asking, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(why, error.message)
        self.assertEqual([], list((self.machine.config.data_dir / "mind").iterdir()))


class SuggestTests(MindCase):
    def test_the_cli_is_asked_once_by_a_file(self) -> None:
        """Nothing of what was observed is on its command line, nothing is left behind."""
        self.said["text"] = "secret answer"
        self.item = {"message": "May I?"}
        asking = self.ask(steer="be brief", rejected=["no"])
        words = self.processes.argv[0]
        self.assertTrue(words[words.index("-c") + 2].endswith("/claude"))
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

    def test_the_model_that_was_chosen(self) -> None:
        self.set(read_my_mind_model="haiku")
        self.ask().addErrback(lambda _: None)
        self.assertEqual(["--model", "haiku"], self.processes.argv[0][-2:])

    def test_off(self) -> None:
        self.set(read_my_mind_enabled=False)
        with self.assertRaises(ServiceError) as caught:
            self.mind.require_enabled()
        self.assertEqual(ErrorCode.FORBIDDEN, caught.exception.code)
        self.assertIn("readMyMindEnabled", caught.exception.message)

    def test_only_the_modes_that_are_listed(self) -> None:
        codex = self.create(mode="codex", start=True)
        text = self.assert_refused(
            ErrorCode.INVALID_INPUT, self.mind.suggest(codex.id, granted=True)
        )
        self.assertIn("codex", text)
        self.set(read_my_mind_modes=("codex", "shell"))
        self.assert_refused(
            ErrorCode.INVALID_INPUT, self.mind.suggest(self.session.id, granted=True)
        )
        shell = self.shell()
        self.assertIn(
            "once",
            self.assert_refused(ErrorCode.INVALID_INPUT, self.mind.suggest(shell.id, granted=True)),
        )
        self.ask(codex).addErrback(lambda _: None)
        self.assertIn("exec", self.processes.argv[0])

    def test_as_the_session_s_own_user(self) -> None:
        """Root becomes that user first, and has seen nothing of the environment by then."""
        ann = self.machine.os_users.add("ann", 1001)
        hers = self.create(mode="primary", env_overrides={"ANTHROPIC_API_KEY": "sk"})
        self.machine.os_users.accounts |= {"ann": "ann"}
        self.sessions.update(hers.id, os_user=OsUserId(name="ann", uid=1001), owner="ann")
        asking = self.ask(hers)
        words, env = self.processes.argv[0], self.processes.env[0]
        start = words.index("/bin/sh")
        self.assertEqual(run_as("/s", "/p", ann), words[:start])
        self.assertTrue(words[start + 4].endswith("/claude"), words)
        self.assertIn("--print", words)
        self.assertNotIn("sk", words)
        self.assertTrue(all(name.startswith("TSERVICE_GIVEN_") for name in env), env)
        self.assertEqual("sk", env["TSERVICE_GIVEN_ANTHROPIC_API_KEY"])
        self.assertEqual(str(ann.home), env["TSERVICE_GIVEN_HOME"])
        stands = Path(self.processes.stands)
        self.assertTrue(stands.is_dir())
        self.processes.answers(json.dumps(GOOD))
        self.assertEqual("Go on", self.successResultOf(asking)["suggestions"][0].prompt)
        self.assertFalse(stands.exists())
        self.assertEqual({"ann"}, set(self.machine.os_users.acted))

    def test_what_was_given_with_the_grant_needs_it_still(self) -> None:
        """Nothing runs with what a start would refuse by now."""
        asked = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        session = self.create(mode="primary", env_overrides=asked)
        refused = self.failureResultOf(self.ask(session, granted=False), ServiceError).value
        self.assertEqual(ErrorCode.FORBIDDEN, refused.code)
        self.assertIn("ANTHROPIC_BASE_URL", refused.message)
        self.assertEqual([], self.processes.argv)
        self.ask(session).addErrback(lambda _: None)
        self.assertEqual(1, len(self.processes.argv))

    def test_an_account_with_another_os_user(self) -> None:
        """It has nothing started as the one that it had before."""
        self.machine.os_users.add("ann", 1001)
        self.sessions.update(self.session.id, os_user=OsUserId(name="ann", uid=1001), owner="ann")
        self.machine.os_users.accounts |= {"ann": "eve"}
        refused = self.failureResultOf(self.ask(), ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, refused.code)
        self.assertEqual([], self.processes.argv)

    def test_what_ends_while_it_is_gathered(self) -> None:
        """The right, or the setting: the CLI is not started then."""
        self.failureResultOf(self.ask(again=denied), ServiceError)
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

    def test_one_at_a_time_for_a_session_and_few_in_all(self) -> None:
        self.ask().addErrback(lambda _: None)
        self.assert_refused(ErrorCode.CONFLICT, self.mind.suggest(self.session.id, granted=True))
        for _ in range(AT_ONCE - 1):
            self.ask(self.create(mode="primary", start=True)).addErrback(lambda _: None)
        more = self.create(mode="primary", start=True)
        self.assert_refused(ErrorCode.RATE_LIMITED, self.mind.suggest(more.id, granted=True))
        self.processes.ends(self.processes.children[0])
        self.ask(more).addErrback(lambda _: None)
        self.assertEqual(AT_ONCE + 1, len(self.processes.children))

    def test_one_account_leaves_room_for_others(self) -> None:
        own = [self.create(mode="primary", start=True) for _ in range(OF_ONE + 1)]
        for session in own:
            self.sessions.update(session.id, owner="ann")
        for session in own[:-1]:
            self.ask(session).addErrback(lambda _: None)
        self.assert_refused(ErrorCode.RATE_LIMITED, self.mind.suggest(own[-1].id, granted=True))
        self.ask().addErrback(lambda _: None)
        self.assertEqual(OF_ONE + 1, len(self.processes.children))

    def test_what_cannot_be_used(self) -> None:
        for printed, why in (
            ("I cannot do that.", "JSON"),
            (b"\xff\xfe", "JSON"),
            ("{}", "1 to 3"),
        ):
            asking = self.ask()
            self.processes.answers(printed)
            self.assert_unusable(asking, why)

    def test_a_crash(self) -> None:
        for ending, why in (({"status": 3}, "status 3"), ({"signal_number": 11}, "a signal")):
            asking = self.ask()
            self.processes.children[-1].outReceived(json.dumps(GOOD).encode())
            self.processes.ends(self.processes.children[-1], **ending)
            self.assert_unusable(asking, why)

    def test_too_much(self) -> None:
        asking = self.ask()
        for _ in range(40):
            if self.processes.children[-1].transport.pid is not None:
                self.processes.children[-1].outReceived(b" " * (OUTPUT_LIMIT // 20))
        self.assertEqual([4001], self.processes.killed[:1])
        self.assert_unusable(asking, "printed too much")

    def test_a_hang(self) -> None:
        asking = self.ask()
        self.clock.advance(TIME_LIMIT - 1)
        self.assertNoResult(asking)
        self.clock.advance(1)
        self.assertEqual(4001, self.processes.killed[0])
        self.assert_unusable(asking, "longer than 85 s")

    def test_who_hangs_up_ends_it(self) -> None:
        asking = self.ask()
        asking.addErrback(lambda _: None).cancel()
        self.assertEqual(4001, self.processes.killed[0])
        self.ask().addErrback(lambda _: None)
        self.assertEqual(2, len(self.processes.children))

    def test_one_that_takes_its_time_to_end(self) -> None:
        """Its end is not taken for that of the next one."""
        self.processes.slow = True
        self.ask().addErrback(lambda _: None).cancel()
        asking = self.ask()
        self.processes.ends(self.processes.children[0])
        self.run_now(self.sessions.delete(self.session.id))
        self.assertEqual([4001, 4001, 4002], self.processes.killed)
        self.processes.ends(self.processes.children[1], signal_number=9)
        self.assertEqual(ErrorCode.NOT_FOUND, self.failureResultOf(asking, ServiceError).value.code)

    def test_a_deleted_session(self) -> None:
        asking = self.ask()
        self.run_now(self.sessions.delete(self.session.id))
        error = self.failureResultOf(asking, ServiceError).value
        self.assertEqual((ErrorCode.NOT_FOUND, 4001), (error.code, self.processes.killed[0]))

    def test_a_stop_of_the_service(self) -> None:
        asking = self.ask()
        self.successResultOf(self.mind.stop())
        self.assert_unusable(asking, "the service stops")

    def test_what_it_started_ends_with_it(self) -> None:
        asking = self.ask()
        self.processes.answers(json.dumps(GOOD))
        self.successResultOf(asking)
        self.assertIn(4001, self.processes.killed)

    def test_one_that_cannot_be_started(self) -> None:
        self.processes.error = OSError(11, "Resource temporarily unavailable")
        self.assertIn(
            "temporarily",
            self.assert_refused(
                ErrorCode.OPERATION_FAILED, self.mind.suggest(self.session.id, granted=True)
            ),
        )
        self.processes.error = None
        self.ask().addErrback(lambda _: None)


class IntentTests(MindCase):
    def says(self, *texts: str, first: int = 1) -> None:
        """The agent's own record has these prompts, and its turn ends."""
        self.said["messages"] = [
            {"role": "user", "text": text, "timestamp": first + number}
            for number, text in enumerate(texts)
        ] + [{"role": "assistant", "text": "fine", "timestamp": 99}]
        self.machine.hub.publish(happened("hook:stop", session_id=self.session.id))

    def prompts(self) -> list[str]:
        found = self.run_now(self.intents.read(self.session.id))
        return [] if found is None else [each.text for each in found.prompts]

    def test_none_set_replaced_and_forgotten(self) -> None:
        self.assertIsNone(self.run_now(self.intents.read(self.session.id)))
        self.says("write it", "/compact", "!ls", "test it")
        self.assertEqual(["write it", "test it"], self.prompts())
        found = self.run_now(self.intents.set_goals(self.session.id, "Ship it"))
        self.assertEqual(("Ship it", ()), (found.goals, found.prompts))
        self.assertEqual(found, self.run_now(self.intents.read(self.session.id)))
        self.assertTrue(self.run_now(self.intents.delete(self.session.id)))
        self.assertFalse(self.run_now(self.intents.delete(self.session.id)))

    def test_whose_right_ended_meanwhile_changes_nothing(self) -> None:
        before = self.run_now(self.intents.set_goals(self.session.id, "Ship it"))
        for change in (
            self.intents.set_goals(self.session.id, "Sink it", denied),
            self.intents.delete(self.session.id, denied),
        ):
            self.failureResultOf(begin(change), ServiceError)
        self.assertEqual(before, self.run_now(self.intents.read(self.session.id)))

    def test_one_for_each_real_workspace(self) -> None:
        """Whatever name leads there."""
        link = self.machine.folder / "link"
        link.symlink_to(self.work)
        other = self.create(mode="primary", working_dir=str(link))
        elsewhere = self.create(mode="primary", working_dir=str(self.machine.home))
        self.run_now(self.intents.set_goals(self.session.id, "here"))
        found = self.run_now(self.intents.read(other.id))
        assert found is not None
        self.assertEqual(("here", str(Path(self.work).resolve())), (found.goals, found.working_dir))
        self.assertIsNone(self.run_now(self.intents.read(elsewhere.id)))

    def test_nothing_is_collected_while_it_is_off(self) -> None:
        self.set(read_my_mind_enabled=False)
        self.says("hush")
        self.assertEqual([], self.prompts())
        self.set(read_my_mind_enabled=True, read_my_mind_modes=("codex",))
        self.says("hush")
        self.assertEqual([], self.prompts())

    def test_nothing_is_collected_for_an_account_that_is_gone(self) -> None:
        """Its session may go on, and the next one of its name reads what was collected."""
        self.sessions.update(self.session.id, owner="bob")
        self.intents.forget("ann".__eq__)
        self.says("the secret of bob")
        self.assertEqual([], self.prompts())
        self.intents.forget(lambda owner: True)
        self.says("the second")
        self.assertEqual(["the second"], self.prompts()[-1:])

    def test_nor_for_a_session_that_is_gone_by_then(self) -> None:
        """Its owner's name may be somebody else's already."""
        held: list[Deferred[None]] = []
        said = self.intents._conversation

        async def slow(session_id: str) -> Mapping[str, Any]:
            held.append(Deferred())
            await held[-1]
            return await said(session_id)

        self.patch(self.intents, "_conversation", slow)
        self.says("the secret")
        other = self.create(mode="primary", working_dir=str(self.work))
        self.run_now(self.sessions.delete(self.session.id))
        self.assertNotEqual([], held)
        for each in held:
            each.callback(None)
        self.assertIsNone(self.run_now(self.intents.read(other.id)))

    def test_what_the_suggestions_are_made_from(self) -> None:
        self.says("write the parser")
        self.run_now(self.intents.read(self.session.id))
        self.ask().addErrback(lambda _: None)
        self.assertIn("- write the parser", self.processes.prompt)

    def test_a_bound_on_all_of_them(self) -> None:
        store = IntentStore(self.machine.database)
        intent = self.run_now(self.intents.set_goals(self.session.id, "first"))

        for number in range(KEPT):
            store.save(evolve(intent, key=f"k{number}", updated_at=intent.updated_at + 1))
        (row,) = self.machine.database.query("SELECT count(*) AS n FROM intents")
        self.assertEqual(KEPT, row["n"])
        self.assertIsNone(self.run_now(self.intents.read(self.session.id)))

    def test_what_belongs_to_nobody_any_more(self) -> None:
        self.sessions.update(self.session.id, owner="ann")
        self.run_now(self.intents.set_goals(self.session.id, "hers"))
        self.store.forget_strangers("ann".__eq__)
        self.assertIsNotNone(self.run_now(self.intents.read(self.session.id)))
        self.sessions.update(self.session.id, owner="bob")
        self.run_now(self.intents.set_goals(self.session.id, "his"))
        self.store.forget_strangers("ann".__eq__)
        self.assertIsNone(self.run_now(self.intents.read(self.session.id)))
