"""What a disk that takes nothing does to each store and file: refused or owed, never lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.event_helpers import to_wire
from tests.runtime_harness import build_test_runtime
from tests.unit.access.harness import cheap_hasher
from tests.unit.store.failing_disk import FailingConnection
from tservice.access.accounts.account import AccountRole
from tservice.access.accounts.account_store import AccountStore
from tservice.access.accounts.accounts import AccountChange, AccountsDependencies, AccountService
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import DatabaseCookieStore
from tservice.agents.approvals.inbox import ApprovalInbox, ItemSession
from tservice.agents.approvals.store import ApprovalStore
from tservice.audit.model import AuditEntry
from tservice.audit.service import MOST_WAITING, AuditFilter, AuditLog
from tservice.clis.build import load_clis
from tservice.core.callers.authentication import SignInRule
from tservice.core.config.model import Config
from tservice.core.disk.disk_errors import FULL, QUOTA, READ_ONLY, DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.scopes import Scope
from tservice.core.logs.lines import FaultCount, LineObserver
from tservice.core.logs.redact import SecretRedactor
from tservice.notify.config_file import WebhookConfigFile
from tservice.notify.model import DeliveryResult, MessageUrgency, WebhookConfig, WebhookMessage
from tservice.notify.outbox import OUTBOX_LIMIT, WebhookOutbox
from tservice.push.store import PushSubscriptionStore
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.store.deferred_writes import AGAIN_SECONDS
from tservice.suggestions.model import Intent
from tservice.suggestions.store import IntentStore
from tservice.tokens.service import TokenService
from tservice.tokens.store import TokenStore
from tservice.webviews.model import WebView
from tservice.webviews.store import WebViewStore

STEPS = ("tempfile.mkstemp", "open", "sync_path", "Path.replace")
"""What putting a file in place does, in order."""
REASONS = {errno.ENOSPC: FULL, errno.EDQUOT: QUOTA, errno.EROFS: READ_ONLY}


class DiskCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock = Clock()
        self.clock.advance(1_800_000_000)
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.path = self.folder / "tservice.db"
        Database.open_file(self.path, clock=self.clock).close()
        self.connection = FailingConnection(self.path)
        self.database = Database(self.connection)
        self.database.deferred_writes.use_clock(self.clock)
        self.addCleanup(self.database.close)
        self.addCleanup(self.make_room)

    def fill(self) -> None:
        self.connection.fault = sqlite3.SQLITE_FULL

    def make_room(self) -> None:
        self.connection.fault = None
        self.clock.advance(AGAIN_SECONDS)

    def afresh(self) -> Database:
        """As a service would find it that begins now."""
        found = Database.open_file(self.path, clock=Clock())
        self.addCleanup(found.close)
        return found

    def full(self, call: Callable[[], object]) -> None:
        error = self.assertRaises(ServiceError, call)
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(FULL, error.message)


class FullDiskAuditTests(DiskCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = AuditLog(self.database, self.clock)
        self.addCleanup(self.log.close)

    def count(self) -> int:
        return len(self.database.query_rows("SELECT seq FROM audit_log"))

    def test_audit_entries_wait_in_order_while_the_disk_is_full(self) -> None:
        self.log.record_entry(AuditEntry(action="one"))
        self.fill()
        self.log.record_entry(AuditEntry(action="two"))
        self.clock.advance(1)
        self.log.record_entry(AuditEntry(action="three"))
        self.make_room()
        found = self.log.find_entries(AuditFilter(limit=9))
        self.assertEqual(["three", "two", "one"], [entry["action"] for entry in found])
        self.assertEqual(1000, found[0]["at"] - found[1]["at"])
        self.assertEqual(3, self.count())

    def test_entry_that_fits_is_written_once(self) -> None:
        self.fill()
        self.log.record_entry(AuditEntry(action="one"))
        self.connection.fault = None
        self.log.record_entry(AuditEntry(action="two"))
        self.clock.advance(0)
        self.assertEqual(2, self.count())

    def test_dropped_entries_are_counted(self) -> None:
        self.fill()
        for number in range(MOST_WAITING // 2 + 7):
            self.log.record_entry(AuditEntry(action=f"a{number}"))
        self.make_room()
        [newest] = self.log.find_entries(AuditFilter(limit=1))
        self.assertEqual(("audit.dropped", {"entries": 7}), (newest["action"], newest["detail"]))
        self.assertEqual(MOST_WAITING // 2 + 1, self.count())

    def test_waiting_entries_displace_no_other_kind_or_actor(self) -> None:
        self.fill()
        for number in range(MOST_WAITING):
            self.log.record_entry(AuditEntry(action=f"POST /{number}", actor="ann"))
        self.log.record_entry(AuditEntry(action="POST /x", actor="bob"))
        self.log.record_entry(AuditEntry(action="login", actor="ann"))
        for number in range(2 * MOST_WAITING):
            self.log.record_entry(AuditEntry(action="POST /", actor=f"user{number}"))
        self.make_room()
        self.assertEqual(MOST_WAITING + 2, self.count())
        for wanted in (AuditFilter(limit=9, actor="bob"), AuditFilter(limit=9, action="login")):
            self.assertEqual(1, len(self.log.find_entries(wanted)))


class FullDiskSignInTests(DiskCase):
    def random(self, size: int) -> bytes:
        return os.urandom(size)

    def cookies(self, database: Database) -> CookieSessionRegistry:
        made = CookieSessionRegistry(DatabaseCookieStore(database), self.clock, self.random)
        self.addCleanup(made.close)
        return made

    def test_signing_in_works_on_a_full_disk(self) -> None:
        cookies = self.cookies(self.database)
        self.fill()
        token = cookies.open_session("ann", "login", "::1", "x").token
        self.assertIsNotNone(cookies.find_session(token))
        self.assertIsNone(self.cookies(self.afresh()).find_session(token))
        self.make_room()
        self.assertIsNotNone(self.cookies(self.afresh()).find_session(token))

    def test_sign_out_holds_immediately_and_is_deferred(self) -> None:
        cookies = self.cookies(self.database)
        token = cookies.open_session("ann", "login", "::1", "x").token
        self.fill()
        self.full(cookies.revoke_sessions)
        self.assertIsNone(cookies.find_session(token))
        self.make_room()
        self.assertIsNone(self.cookies(self.afresh()).find_session(token))

    def test_revoked_token_is_deferred_on_a_full_disk(self) -> None:
        tokens = TokenService(
            TokenStore(self.database, multiuser=True), self.clock, self.random, lambda ids: None
        )
        self.addCleanup(tokens.close)
        make = {"owner": "ann", "name": "x", "scopes": [next(iter(Scope))], "sessions": None}
        word, token = tokens.create_token(**make, expires_at=None)  # type: ignore[arg-type]
        self.fill()
        self.full(lambda: tokens.create_token(**make, expires_at=None))  # type: ignore[arg-type]
        self.assertIsNotNone(tokens.find_and_record_use(word))
        self.full(lambda: tokens.delete_token(token.id, "ann"))
        self.assertIsNone(tokens.find_and_record_use(word))
        self.make_room()
        self.assertEqual([], list(TokenStore(self.afresh(), multiuser=True).load()))


class FullDiskAccountTests(DiskCase):
    """What takes a right away holds at once; what gives one is refused."""

    def setUp(self) -> None:
        super().setUp()
        self.revoked: list[str] = []
        self.accounts = self.load(self.database)
        for name in ("ann", "max"):
            make = self.accounts.create_account(
                name,
                AccountRole.ADMIN,
                "x" * 8,
                can_bypass_permissions=True,
                caller=GRANTED,
            )
            self.successResultOf(Deferred.fromCoroutine(make))

    def revoke(self, username: str) -> int:
        self.revoked.append(username)
        return 0

    def load(self, database: Database) -> AccountService:
        deps = AccountsDependencies(
            clock=self.clock,
            random=os.urandom,
            hasher=cheap_hasher(),
            hub=EventHub(),
            revoke=self.revoke,
            forget=lambda name: None,
            tokens_of=lambda name: 0,
            owns=lambda name: False,
        )
        return AccountService(AccountStore(database), deps)

    def change(self, **wanted: Any) -> None:
        changing = Deferred.fromCoroutine(
            self.accounts.change_account("ann", AccountChange(**wanted), GRANTED)
        )
        error = self.failureResultOf(changing, ServiceError).value
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(FULL, error.message)

    def test_revoked_rights_hold_immediately_on_a_full_disk(self) -> None:
        self.fill()
        self.change(role=AccountRole.USER)
        self.change(can_bypass_permissions=False)
        [ann, _] = self.accounts.list_accounts()
        self.assertEqual((AccountRole.USER, False), (ann.role, ann.can_bypass_permissions))
        self.change(enabled=False)
        self.assertIsNone(self.accounts.find_identity("ann"))
        self.assertEqual(["ann"] * 3, self.revoked[2:])
        self.assertIsNotNone(self.load(self.afresh()).find_identity("ann"))
        self.make_room()
        self.assertEqual(self.accounts.list_accounts(), self.load(self.afresh()).list_accounts())

    def test_removed_account_holds_immediately_on_a_full_disk(self) -> None:
        self.fill()
        self.full(lambda: self.accounts.remove_account("ann"))
        self.assertFalse(self.accounts.account_exists("ann"))
        self.assertEqual(["ann"], self.revoked[2:])
        self.make_room()
        self.assertFalse(self.load(self.afresh()).account_exists("ann"))

    def test_granted_rights_are_refused_on_a_full_disk(self) -> None:
        disabled = self.accounts.change_account(
            "ann",
            AccountChange(enabled=False, role=AccountRole.USER),
            GRANTED,
        )
        self.successResultOf(Deferred.fromCoroutine(disabled))
        before = self.accounts.list_accounts()
        self.fill()
        self.change(enabled=True)
        self.change(role=AccountRole.ADMIN)
        self.change(password="y" * 8)
        self.change(can_bypass_permissions=False, enabled=True)
        self.make_room()
        self.assertEqual(before, self.accounts.list_accounts())
        self.assertEqual(before, self.load(self.afresh()).list_accounts())

    def test_removed_account_gets_no_push_messages(self) -> None:
        pushes = PushSubscriptionStore(self.database)
        self.database.execute(
            "INSERT INTO push_subscriptions (endpoint, owner, p256dh, auth, subject, created_at)"
            " VALUES ('https://push.example.org/x', 'ann', '', '', '', 1)"
        )
        self.fill()
        pushes.delete_owner("ann")
        self.make_room()
        self.assertEqual([], PushSubscriptionStore(self.afresh()).list_subscriptions())


class OutboxTests(DiskCase):
    def message(self, title: str) -> WebhookMessage:
        return WebhookMessage(
            event="e", title=title, body="", urgency=MessageUrgency.INFO, host="h", at=1
        )

    def test_deferred_messages_are_delivered_later(self) -> None:
        outbox, told = WebhookOutbox(self.database), list[int]()
        outbox.add_recovery_callback(lambda: told.append(outbox.count_waiting()))
        self.fill()
        for number in range(OUTBOX_LIMIT + 3):
            outbox.add_message(self.message(str(number)), 5)
        self.assertIsNone(outbox.find_next(()))
        self.make_room()
        self.assertEqual([OUTBOX_LIMIT], told)
        found = outbox.find_next(())
        assert found is not None
        self.assertEqual("3", found.message.title)

    def test_outbox_starts_on_a_full_disk(self) -> None:
        """Also where something is owed by then, which the next write would pay first."""
        outbox = WebhookOutbox(self.database)
        outbox.add_message(self.message("late"), 50)
        self.fill()
        outbox.save_result(DeliveryResult(ok=True, at=1))
        outbox.limit_due_times(7)
        self.make_room()
        found = outbox.find_next(())
        assert found is not None
        self.assertEqual(7, found.due_at)


class StrangersTests(DiskCase):
    def test_data_without_an_owner_is_removed_without_room(self) -> None:
        """It goes at a start, which must not need room."""
        views, intents = WebViewStore(self.database), IntentStore(self.database)
        views.save(WebView(id="1", owner="ann", name="a", url="http://a/", icon=None, created_at=1))
        intents.replace_intent(Intent(key="a", owner="ann", working_dir="/a", updated_at=1))
        self.fill()
        views.delete_unknown_owners(lambda name: False)
        intents.delete_unknown_owners(lambda name: False)
        self.assertEqual(1, len(WebViewStore(self.afresh()).list_owned("ann")))
        self.make_room()
        self.assertEqual([], WebViewStore(self.afresh()).list_owned("ann"))
        self.assertIsNone(IntentStore(self.afresh()).find_intent("a"))


class FullDiskInboxTests(DiskCase):
    def test_items_are_announced_and_their_numbers_never_reused(self) -> None:
        self.connection.execute("PRAGMA foreign_keys = OFF")
        columns = [row["name"] for row in self.database.query_rows("PRAGMA table_info(sessions)")]
        self.assertIn("id", columns)
        hub, told = EventHub(), list[str]()
        hub.subscribe(lambda event: told.append(f"{event.name} {to_wire(event)['id']}"))
        inbox = ApprovalInbox(self.clock, ApprovalStore(self.database), hub, lambda item: False)
        self.addCleanup(inbox.close)
        inbox.load_items()
        self.fill()
        about = ItemSession(id="s", name="n", owner=None)
        inbox.put_idle_item(about, ["row"], {})
        item = inbox.get_item("s")
        assert item is not None
        inbox.acknowledge_idle("s")
        self.assertEqual(2, ApprovalStore.next_number(inbox._store, "s"))
        self.assertEqual(["approval:pending s:1", "approval:updated s:1"], told)


class FullDiskFileTests(DiskCase):
    """Every step of writing a file fails in turn, for every reason."""

    def check(self, name: str, write: Callable[[], object], number: int, reason: str) -> None:
        before = (self.folder / name).read_bytes()
        for step in STEPS:
            with mock.patch(f"tservice.core.disk.files.{step}", refusing(number), create=True):
                error = self.assertRaises(ServiceError, write)
            self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
            self.assertIn(reason, error.message, step)
            self.assertEqual(before, (self.folder / name).read_bytes(), step)
            self.assertEqual([], list(self.folder.glob(".*.tmp")), step)

    def test_failed_write_keeps_the_old_content(self) -> None:
        settings = SettingsService(self.folder / "settings.json", EventHub(), SignInRule(False))
        settings.change_settings({"displayName": "kept"})
        webhook = WebhookConfigFile(self.folder)
        webhook.write_config(WebhookConfig())
        for number, reason in REASONS.items():
            change = partial(settings.change_settings, {"displayName": reason})
            self.check("settings.json", change, number, reason)
            self.check(
                "webhook.json", partial(webhook.write_config, WebhookConfig()), number, reason
            )
        self.assertEqual("kept", settings.get().display_name)

    def test_failed_write_keeps_the_old_cli_settings(self) -> None:
        _, clis = load_clis(build_test_runtime(self.folder, config=Config(data_dir=self.folder)))
        clis.set_enabled("codex", False)
        for number, reason in REASONS.items():
            self.check("clis.json", partial(clis.set_enabled, "codex", True), number, reason)
        self.assertFalse(clis.make_cli_item(clis._get_known_entry("codex")).enabled)


def refusing(number: int) -> Callable[..., object]:
    """A system call that the disk refuses."""

    def refuse(*arguments: Any, **named: object) -> object:
        if arguments[1:] == ("rb",):
            return open(*arguments)
        if arguments and isinstance(arguments[0], int):
            os.close(arguments[0])
        raise OSError(number, os.strerror(number))

    return refuse


class FullDiskLogTests(SynchronousTestCase):
    def test_full_disk_log_errors_do_not_flood_the_log(self) -> None:
        out, count = StringIO(), FaultCount()
        observer = LineObserver(out, "text", "info", SecretRedactor())
        for each in (observer, count):
            log = Logger(observer=each)
            log.failure("one", Failure(DiskFull(FULL)))
            log.failure("two", Failure(ValueError("x")))
        self.assertNotIn("one", out.getvalue())
        self.assertIn("two", out.getvalue())
        self.assertEqual(1, count.count)

    def test_log_on_a_full_disk_reports_how_much_it_lost(self) -> None:
        class Out(StringIO):
            full = False

            def flush(self) -> None:
                if self.full:
                    raise OSError(errno.ENOSPC, "full")

        out = Out()
        log = Logger(observer=LineObserver(out, "text", "info", SecretRedactor()))
        out.full = True
        for _ in range(3):
            log.info("lost")
        out.full = False
        log.info("room")
        lines = out.getvalue().splitlines()
        self.assertIn("3 lines of this log may be lost", lines[-2])
        self.assertIn("room", lines[-1])
