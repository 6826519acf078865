"""Intents, and what is kept of what was said (protocol-intent)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.event_helpers import make_event
from tests.unit.right_checks import DENIED
from tests.unit.sessions.harness import start_coroutine
from tests.unit.suggestions.harness import MindCase
from tservice.core.kernel.clock import get_unix_ms
from tservice.core.kernel.errors import ServiceError
from tservice.suggestions.store import KEPT, IntentStore


class IntentTests(MindCase):
    def says(self, *texts: str) -> None:
        """The agent is told these prompts, and its turn ends."""
        for text in texts:
            self.told(text)
        self.clock.advance(1)
        self.machine.hub.publish(make_event("hook:stop", session_id=self.session.id))

    def told(self, text: str) -> None:
        """The agent is told a prompt, and its turn goes on."""
        self.clock.advance(1)
        self.prompted.append((get_unix_ms(self.clock), text))

    def prompts(self) -> list[str]:
        found = self.run_now(self.intents.find_intent(self.session.id))
        return [] if found is None else [each.text for each in found.prompts]

    def test_intent_is_created_replaced_and_deleted(self) -> None:
        self.assertIsNone(self.run_now(self.intents.find_intent(self.session.id)))
        self.says("write it", "/compact", "!ls", "test it")
        self.assertEqual(["write it", "test it"], self.prompts())
        found = self.run_now(self.intents.replace_goals(self.session.id, "Ship it", GRANTED))
        self.assertEqual(("Ship it", ()), (found.goals, found.prompts))
        self.assertEqual(found, self.run_now(self.intents.find_intent(self.session.id)))
        self.assertTrue(self.run_now(self.intents.delete_intent(self.session.id, GRANTED)))
        self.assertFalse(self.run_now(self.intents.delete_intent(self.session.id, GRANTED)))

    def test_prompts_before_the_deletion_are_not_collected_again(self) -> None:
        """The agent's own record still has it."""
        self.says("first")
        self.clock.advance(1)
        self.run_now(self.intents.replace_goals(self.session.id, "Ship it", GRANTED))
        self.says("second")
        self.assertEqual(["second"], self.prompts())
        self.clock.advance(1)
        self.run_now(self.intents.delete_intent(self.session.id, GRANTED))
        self.says("third")
        self.assertEqual(["third"], self.prompts())

    def test_right_lost_during_the_request_changes_nothing(self) -> None:
        before = self.run_now(self.intents.replace_goals(self.session.id, "Ship it", GRANTED))
        for change in (
            self.intents.replace_goals(self.session.id, "Sink it", DENIED),
            self.intents.delete_intent(self.session.id, DENIED),
        ):
            self.failureResultOf(start_coroutine(change), ServiceError)
        self.assertEqual(before, self.run_now(self.intents.find_intent(self.session.id)))

    def test_intent_belongs_to_the_real_workspace_path(self) -> None:
        """Whatever name leads there."""
        link = self.machine.folder / "link"
        link.symlink_to(self.work)
        other = self.create(mode="primary", working_dir=str(link))
        elsewhere = self.create(mode="primary", working_dir=str(self.machine.home))
        self.run_now(self.intents.replace_goals(self.session.id, "here", GRANTED))
        found = self.run_now(self.intents.find_intent(other.id))
        assert found is not None
        self.assertEqual(("here", str(Path(self.work).resolve())), (found.goals, found.working_dir))
        self.assertIsNone(self.run_now(self.intents.find_intent(elsewhere.id)))

    def test_prompts_are_not_collected_while_switched_off(self) -> None:
        self.set(read_my_mind_enabled=False)
        self.says("hush")
        self.assertEqual([], self.prompts())
        self.set(read_my_mind_enabled=True, read_my_mind_modes=("codex",))
        self.says("hush")
        self.assertEqual([], self.prompts())

    def test_prompts_entered_while_switched_off_are_never_collected(self) -> None:
        self.set(read_my_mind_enabled=False)
        self.says("hush")
        self.told("in a turn that goes on")
        self.clock.advance(1)
        self.set(read_my_mind_enabled=True)
        self.says("speak")
        self.assertEqual(["speak"], self.prompts())
        self.set(read_my_mind_enabled=False)
        self.told("hush again")
        self.clock.advance(1)
        self.set(read_my_mind_enabled=True)
        self.says()
        self.assertEqual(["speak"], self.prompts())

    def test_mode_added_later_collects_from_then_on(self) -> None:
        self.set(read_my_mind_modes=("codex",))
        self.says("hush")
        self.set(read_my_mind_modes=("codex", "primary"))
        self.says("speak")
        self.assertEqual(["speak"], self.prompts())

    def test_reading_interrupted_by_switching_off_collects_nothing(self) -> None:
        held: Deferred[None] = Deferred()

        async def slow(session_id: str, since: int) -> Sequence[tuple[int, str]]:
            await held
            return self.prompted

        self.patch(self.intents, "_prompts", slow)
        self.says("before")
        self.set(read_my_mind_enabled=False)
        self.clock.advance(1)
        self.set(read_my_mind_enabled=True)
        held.callback(None)
        self.assertEqual([], self.prompts())

    def test_restart_continues_collecting(self) -> None:
        self.intents.stop()
        self.told("while the service was away")
        self.clock.advance(1)
        self.intents = self.make_intents()
        self.intents.start()
        self.says("and after")
        self.assertEqual(["while the service was away", "and after"], self.prompts())
        self.intents.stop()
        self.set(read_my_mind_enabled=False)
        self.make_intents().start()
        self.told("while it was off")
        self.clock.advance(1)
        self.set(read_my_mind_enabled=True)
        self.intents = self.make_intents()
        self.intents.start()
        self.says("on again")
        self.assertEqual(["on again"], self.prompts()[2:])

    def test_remembered_deletions_are_bounded(self) -> None:
        for number in range(KEPT + 1):
            self.store.delete_intent(f"{number:032}", number)
        rows = self.machine.database.query_rows("SELECT subject FROM collected_since ORDER BY at")
        self.assertEqual(KEPT + 1, len(rows))  # and the mode, which began before them
        self.assertEqual(0, self.store.get_replacement_time(f"{0:032}"))

    def test_prompts_of_a_removed_account_are_not_collected(self) -> None:
        """Its session may go on, and the next one of its name reads what was collected."""
        self.sessions.update_record(self.session.id, owner="bob")
        self.intents.delete_unknown_owners("ann".__eq__)
        self.says("the secret of bob")
        self.assertEqual([], self.prompts())
        self.intents.delete_unknown_owners(lambda owner: True)
        self.says("the second")
        self.assertEqual(["the second"], self.prompts()[-1:])

    def test_session_deleted_while_reading_collects_nothing(self) -> None:
        """Its owner's name may be somebody else's already."""
        held: list[Deferred[None]] = []
        said = self.intents._prompts

        async def slow(session_id: str, since: int) -> Sequence[tuple[int, str]]:
            held.append(Deferred())
            await held[-1]
            return await said(session_id, since)

        self.patch(self.intents, "_prompts", slow)
        self.says("the secret")
        other = self.create(mode="primary", working_dir=str(self.work))
        self.run_now(self.sessions.delete(self.session.id))
        self.assertNotEqual([], held)
        for each in held:
            each.callback(None)
        self.assertIsNone(self.run_now(self.intents.find_intent(other.id)))

    def test_collected_prompts_are_used_for_suggestions(self) -> None:
        self.says("write the parser")
        self.run_now(self.intents.find_intent(self.session.id))
        self.ask().addErrback(lambda _: None)
        self.assertIn("- write the parser", self.processes.prompt)

    def test_stored_intents_are_bounded(self) -> None:
        store = IntentStore(self.machine.database)
        intent = self.run_now(self.intents.replace_goals(self.session.id, "first", GRANTED))

        for number in range(KEPT):
            store.replace_intent(evolve(intent, key=f"k{number}", updated_at=intent.updated_at + 1))
        (row,) = self.machine.database.query_rows("SELECT count(*) AS n FROM intents")
        self.assertEqual(KEPT, row["n"])
        self.assertIsNone(self.run_now(self.intents.find_intent(self.session.id)))

    def test_intents_of_removed_accounts_are_deleted(self) -> None:
        self.sessions.update_record(self.session.id, owner="ann")
        self.run_now(self.intents.replace_goals(self.session.id, "hers", GRANTED))
        self.store.delete_unknown_owners("ann".__eq__)
        self.assertIsNotNone(self.run_now(self.intents.find_intent(self.session.id)))
        self.sessions.update_record(self.session.id, owner="bob")
        self.run_now(self.intents.replace_goals(self.session.id, "his", GRANTED))
        self.store.delete_unknown_owners("ann".__eq__)
        self.assertIsNone(self.run_now(self.intents.find_intent(self.session.id)))
