"""What is offered after a reboot, to whom, and for how long (protocol-restore)."""

from __future__ import annotations

from unittest.mock import patch

from attrs import evolve

from tests.callers import GRANTED, make_caller
from tests.event_helpers import to_wire
from tests.unit.restore.harness import RestoreHarnessCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.http.envelope import HttpRefusal, make_bare_refusal
from tservice.restore.store import RestoreStore
from tservice.sessions.life.launcher import PaneLauncher
from tservice.sessions.record.model import ProcessPhase, Session, SessionLocationKind

DAY = 24 * 3600


class OfferTests(RestoreHarnessCase):
    def test_lost_sessions_are_offered(self) -> None:
        """Not what was never started, was ended, ended well by itself, or trips its breaker."""
        shell, agent = self.shell(), self.agent()
        self.create()
        stopped = self.shell()
        self.run_now(self.sessions.stop(stopped.id, "enough"))
        done = self.shell()
        self.pane(done).exit_program(0)
        broken = self.shell()
        self.sessions.update_record(broken.id, phase=ProcessPhase.ERROR)
        away = self.shell()
        self.sessions.update_record(away.id, location=SessionLocationKind.REMOTE)
        self.reboot()
        self.assertEqual([shell.id, agent.id], self.offered())
        found = self.sessions.get(shell.id)
        self.assertEqual((ProcessPhase.EXITED, None), (found.phase, found.pid))

    def test_restarted_service_is_no_reboot(self) -> None:
        """Nor is the end of panes alone."""
        shell = self.shell()
        self.crash()
        self.assertEqual([], self.offered())
        self.assertIsNotNone(self.sessions.get(shell.id).pid)
        self.machine.crash()
        self.host.lose_server(shell.id)
        self.come_up()
        self.assertEqual([], self.offered())

    def test_surviving_multiplexer_server_is_no_loss(self) -> None:
        """The boot has another name and all panes are there: nothing is offered."""
        self.shell()
        self.machine.crash()
        self.boot_id.write_text("boot-9\n")
        self.come_up()
        self.assertEqual([], self.offered())

    def test_first_start_offers_nothing(self) -> None:
        self.shell()
        self.machine.database.execute("DELETE FROM restore_host")
        self.reboot()
        self.assertEqual([], self.offered())

    def test_panes_lost_just_before_the_shutdown_are_offered(self) -> None:
        """Panes that were lost just before the service stopped; not those of an hour before."""
        early, late, well = self.shell(), self.shell(), self.shell()
        self.pane(early).exit_program(None, "SIGHUP")
        self.spend(3600)
        self.pane(late).lose_server()
        self.pane(well).exit_program(0)
        self.spend(20)
        self.reboot(stop=True)
        self.assertEqual([late.id], self.offered())

    def test_loss_is_forgotten_after_the_next_start(self) -> None:
        shell = self.shell()
        self.pane(shell).exit_program(1)
        self.run_now(self.sessions.start(shell.id, GRANTED))
        self.pane(shell).exit_program(0)
        self.reboot(stop=True)
        self.assertEqual([], self.offered())

    def test_detached_session_is_offered(self) -> None:
        shell = self.shell()
        self.run_now(self.sessions.delete(shell.id, kill=False))
        self.reboot()
        self.assertEqual([shell.id], self.offered())

    def test_offer_describes_each_session(self) -> None:
        agent = self.agent(name="mine")
        self.spend(60)
        shell = self.shell()
        self.reboot()
        offer = self.run_now(self.restore.get_offer(ADMIN))
        first, second = offer.sessions
        self.assertEqual((agent.id, "mine"), (first.session.id, first.session.name))
        told = [(it.resumes, it.scrollback) for it in offer.sessions]
        self.assertEqual([(True, True), (False, False)], told)
        self.assertEqual(shell.id, second.session.id)
        self.assertEqual(int(self.clock.seconds() * 1000) + DAY * 1000, offer.expires_at)

    def test_offer_expires_after_a_day(self) -> None:
        shell = self.shell()
        self.reboot()
        self.clock.advance(DAY - 1)
        self.assertEqual([shell.id], self.offered())
        self.clock.advance(1)
        self.assertEqual([], self.offered())
        self.assertEqual(0, self.bring_back()["restored"])

    def test_restore_offer_and_dismissal_outlive_the_service(self) -> None:
        first, second = self.shell(), self.shell()
        self.reboot()
        self.crash()
        self.assertEqual([first.id, second.id], self.offered())
        self.assertEqual(2, self.restore.dismiss_offer(ADMIN))
        self.assertEqual(0, self.restore.dismiss_offer(ADMIN))
        self.crash()
        self.assertEqual([], self.offered())
        self.assertEqual(2, len(self.sessions.list()))

    def test_second_reboot_adds_to_the_offer(self) -> None:
        first, second = self.shell(), self.shell()
        self.reboot()
        self.assertEqual({second.id: "restored"}, self.outcomes(second.id))
        self.reboot()
        self.assertEqual([first.id, second.id], self.offered())

    def test_session_started_by_a_user_is_no_longer_offered(self) -> None:
        shell = self.shell()
        self.reboot()
        self.run_now(self.sessions.start(shell.id, GRANTED))
        self.assertEqual([], self.offered())
        self.pane(shell).exit_program(0)
        self.crash()
        self.assertEqual([], self.offered())

    def test_deleted_session_is_no_longer_offered(self) -> None:
        shell = self.shell()
        self.reboot()
        self.run_now(self.sessions.delete(shell.id))
        self.assertEqual([], self.offered())
        self.assertEqual([], self.machine.database.query_rows("SELECT * FROM restore_offers"))

    def test_session_whose_conversation_is_live_elsewhere_is_not_offered(self) -> None:
        agent = self.agent()
        self.reboot()
        self.agent(conversation="c-1")
        self.assertEqual([], self.offered())
        self.assertEqual({agent.id: "already-live"}, self.outcomes())
        self.assertEqual({}, self.outcomes())

    def test_system_without_boot_ids_offers_lost_sessions_for_a_day(self) -> None:
        """What is gone is offered until a day after the newest activity."""
        self.boot_id.unlink()
        self.machine.database.execute("UPDATE restore_host SET boot_id = NULL")
        shell, kept = self.shell(), self.shell()
        self.machine.crash()
        self.host.lose_server(shell.id)
        self.clock.advance(3600)
        self.boot_id.mkdir()
        self.come_up()
        self.assertEqual([shell.id], self.offered())
        self.clock.advance(DAY - 3600)
        self.assertEqual([], self.offered())
        self.assertIsNotNone(self.sessions.get(kept.id).pid)

    def test_offer_is_published(self) -> None:
        self.shell()
        self.reboot()
        told = [event for event in self.machine.events if event.name == "restore:offered"]
        self.assertEqual([{"sessions": 1}], [to_wire(event) for event in told])
        self.restore.dismiss_offer(ADMIN)
        self.assertEqual({"sessions": 0}, self.last("restore:offered"))

    def test_full_disk_does_not_prevent_the_start(self) -> None:
        shell = self.shell()

        def full(*given: object) -> None:
            raise DiskFull("the disk is full")

        self.patch(RestoreStore, "record_boot", full)
        self.reboot()
        self.assertEqual([shell.id], self.offered())


class ManyUsersTests(RestoreHarnessCase):
    """Everybody is offered what is theirs; an admin too."""

    multiuser = True

    def setUp(self) -> None:
        super().setUp()
        self.ann = make_caller(username="ann", admin=False, can_bypass_permissions=True)
        self.bob = make_caller(username="bob", admin=True, can_bypass_permissions=True)
        self.machine.accounts.update(ann=self.ann, bob=self.bob)
        cases = self.machine.config.cases_dir
        self.hers = cases / ".accounts" / "ann" / "case"
        self.hers.mkdir(parents=True)

    def test_offer_goes_to_the_owner_of_each_session(self) -> None:
        one = self.create(self.ann, working_dir=str(self.hers), start=True)
        two = self.create(self.bob, working_dir=str(self.work), start=True)
        self.reboot()
        self.assertEqual([one.id], self.offered(self.ann))
        self.assertEqual([two.id], self.offered(self.bob))
        told = {event.owner for event in self.machine.events if event.name == "restore:offered"}
        self.assertEqual({"ann", "bob"}, told)
        self.assertEqual({}, self.outcomes(two.id, who=self.ann))
        self.assertEqual({one.id: "restored"}, self.outcomes(who=self.ann))
        self.assertEqual(1, self.restore.dismiss_offer(self.bob))

    def test_folder_lost_by_the_owner_refuses_the_restore(self) -> None:
        one = self.create(self.ann, working_dir=str(self.hers), start=True)
        self.reboot()
        self.sessions.update_record(one.id, working_dir=str(self.work))
        self.assertEqual({one.id: "workspace-forbidden"}, self.outcomes(who=self.ann))
        self.assertEqual([one.id], self.offered(self.ann))

    def test_rights_lost_during_a_restore_keep_the_offer(self) -> None:
        first = self.create(self.ann, working_dir=str(self.hers), start=True)
        second = self.create(self.ann, working_dir=str(self.hers), start=True)
        self.reboot()

        def again() -> None:
            if self.sessions.get(first.id).pid is not None:
                raise ServiceError(ErrorCode.FORBIDDEN, "not any more")

        working = start_coroutine(
            self.restore.restore_sessions(evolve(self.ann, reauthorize=again), None)
        )
        self.spend(10)
        self.failureResultOf(working, ServiceError)
        self.assertIsNotNone(self.sessions.get(first.id).pid)
        self.assertEqual([second.id], self.offered(self.ann))

    def test_rights_lost_during_an_automatic_restore_keep_the_offer(self) -> None:
        """What is started by itself for an account is started with the rights that it has then."""
        for now in (
            evolve(self.bob, admin=False),
            evolve(self.bob, can_bypass_permissions=False),
            evolve(self.bob, os_user="bob"),
            None,
        ):
            first, second = (
                self.create(self.bob, mode="primary", working_dir=str(self.work), start=True)
                for _ in range(2)
            )
            self.change_settings(auto_restore_enabled=True)
            self.reboot()
            self.spend(2)
            self.assertIsNotNone(self.sessions.get(first.id).pid)
            if now is None:
                del self.machine.accounts["bob"]
            else:
                self.machine.accounts["bob"] = now
            self.spend(60)
            self.assertIsNone(self.sessions.get(second.id).pid, now)
            self.assertIn(second.id, self.offered(self.bob))
            self.assertFalse(self.flushLoggedErrors())
            for each in (first, second):
                self.run_now(self.sessions.delete(each.id))
            self.machine.accounts["bob"] = self.bob

    def test_rights_lost_while_the_location_is_prepared_keep_the_offer(self) -> None:
        """A container may take minutes until something can be started in it."""
        one = self.create(self.ann, working_dir=str(self.hers), start=True)
        self.reboot()
        for error in (
            ServiceError(ErrorCode.FORBIDDEN, "not any more"),
            make_bare_refusal(401, "Unauthorized"),
        ):
            lost: list[Exception] = []

            def again(lost: list[Exception] = lost) -> None:
                for each in lost:
                    raise each

            async def slow(
                launcher: PaneLauncher,
                session: Session,
                lost: list[Exception] = lost,
                error: Exception = error,
            ) -> None:
                lost.append(error)

            with patch.object(PaneLauncher, "check_folders_reachable", slow):
                working = start_coroutine(
                    self.restore.restore_sessions(evolve(self.ann, reauthorize=again), None)
                )
                self.spend(10)
            working.addErrback(lambda why: why.trap(ServiceError, HttpRefusal))
            self.successResultOf(working)
            self.assertIsNone(self.sessions.get(one.id).pid)
            self.assertEqual([one.id], self.offered(self.ann))
