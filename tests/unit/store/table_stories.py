"""What is done to each table of the database, step by step, for the walk over every write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from attrs import evolve

from tests.unit.store.absence_story import tell_absences
from tests.unit.store.approval_rule_story import tell_approval_rules
from tests.unit.store.buffered_input_story import tell_buffered_input
from tests.unit.store.check_story import tell_checks
from tests.unit.store.container_story import tell_containers
from tests.unit.store.movestory import tell_moves
from tests.unit.store.notice_story import tell_notification_rules
from tests.unit.store.review_story import tell_reviews
from tests.unit.store.story_steps import StoreStory, StoryHarness, StoryStep, session_record
from tests.unit.store.truststory import tell_trusted_folders
from tests.unit.store.unconfirmed_prompt_story import tell_unconfirmed_prompts
from tservice.access.accounts.account import AccountRole, UserAccount
from tservice.access.accounts.account_store import AccountStore
from tservice.access.cookie_store import DatabaseCookieStore
from tservice.access.model import CookieSession
from tservice.agents.approvals.model import ApprovalItem, ItemKind
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.model import PlanUsage
from tservice.agents.store import AgentStore
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.usage.position_store import ReadPositionStore
from tservice.agents.transcripts.usage.record import MessageUsage, ModelUsage
from tservice.agents.transcripts.usage.store import UsageStore
from tservice.audit.model import BOUNDS, ORDINARY, AuditEntry
from tservice.audit.service import AuditLog
from tservice.cases.model import CaseRow
from tservice.cases.store import CaseStore
from tservice.core.kernel.scopes import Scope
from tservice.core.locations.location import OWN_LOCATION
from tservice.cron.model import (
    ConcurrencyPolicy,
    CronJob,
    CronRun,
    InputMode,
    JobDefinition,
    JobSchedule,
    PromptMode,
    RunStatus,
    RunTrigger,
    ScheduleType,
)
from tservice.cron.store import CronStore
from tservice.notify.model import DeliveryResult, MessageUrgency, WebhookMessage
from tservice.notify.outbox import WebhookOutbox
from tservice.push.model import Subscription
from tservice.push.store import PushSubscriptionStore
from tservice.restore.store import RestoreStore
from tservice.sessions.input.accept.journal import InputJournal
from tservice.sessions.input.entry import InputKind
from tservice.sessions.input.entry import JournalEntry as Typed
from tservice.sessions.record.repository import SessionRepository
from tservice.suggestions.model import Intent
from tservice.suggestions.store import IntentStore
from tservice.tokens.model import ApiToken
from tservice.tokens.store import TokenStore
from tservice.webviews.model import WebView
from tservice.webviews.store import WebViewStore

KEPT = 3
"""Rows of the audit log."""


def _accounts(world: StoryHarness) -> Sequence[StoryStep]:
    store = AccountStore(world.database)
    ann = UserAccount(
        username="ann", id="a", role=AccountRole.ADMIN, password_hash="x", created_at=1
    )
    less = evolve(ann, role=AccountRole.USER)
    return [
        StoryStep(name="made", do=lambda: store.save(ann)),
        StoryStep(name="another", do=lambda: store.save(evolve(ann, username="bob", id="b"))),
        StoryStep(name="demoted", do=lambda: store.save_or_defer(less), holds=True, needs="made"),
        StoryStep(
            name="new password",
            do=lambda: store.save(evolve(less, password_hash="y")),
            needs="made",
        ),
        StoryStep(name="removed", do=lambda: store.delete("bob"), holds=True),
    ]


def _cookies(world: StoryHarness) -> Sequence[StoryStep]:
    store = DatabaseCookieStore(world.database)
    one = CookieSession(
        id="1", token_hash=b"1", key_hash=None, seal=b"", username="ann", method="login",
        address="::1", user_agent="", created_at=1, expires_at=2,
    )  # fmt: skip
    two = evolve(one, id="2", token_hash=b"2")
    return [
        StoryStep(name="in", do=lambda: store.save(one), owed=True),
        StoryStep(name="another", do=lambda: store.save(two), owed=True),
        StoryStep(name="extended", do=lambda: store.save(evolve(one, expires_at=9)), owed=True),
        StoryStep(name="out", do=lambda: store.delete(["1", "2"]), holds=True),
        StoryStep(name="back", do=lambda: store.save(evolve(two, id="3")), owed=True),
    ]


def _tokens(world: StoryHarness) -> Sequence[StoryStep]:
    store = TokenStore(world.database, multiuser=True)
    one = ApiToken(
        id="1",
        owner="ann",
        name="x",
        token_hash=b"1",
        scopes=(Scope.WAITS,),
        sessions=("s",),
        created_at=1,
        expires_at=None,
    )
    two = evolve(one, id="2", token_hash=b"2")
    return [
        StoryStep(name="made", do=lambda: store.save(one)),
        StoryStep(name="another", do=lambda: store.save(two)),
        StoryStep(
            name="used",
            do=lambda: store.save_use(evolve(one, last_used_at=5)),
            owed=True,
            needs="made",
        ),
        StoryStep(name="ended", do=lambda: store.delete(["2"]), holds=True),
    ]


def _pushes(world: StoryHarness) -> Sequence[StoryStep]:
    store = PushSubscriptionStore(world.database)
    one = Subscription(
        endpoint="https://a.example.org/1",
        owner="ann",
        p256dh="",
        auth="",
        subject="",
        created_at=1,
    )
    two = evolve(one, endpoint="https://a.example.org/2")
    return [
        StoryStep(name="one", do=lambda: store.save_subscription(one)),
        StoryStep(name="two", do=lambda: store.save_subscription(two)),
        StoryStep(name="forgotten", do=lambda: store.delete_subscription(one.endpoint, "ann")),
        StoryStep(name="bob", do=lambda: store.save_subscription(evolve(one, owner="bob"))),
        StoryStep(name="gone", do=lambda: store.delete_owner("ann"), owed=True),
    ]


def _sessions(world: StoryHarness) -> Sequence[StoryStep]:
    store = SessionRepository(world.database)
    one, two = session_record("1"), session_record("2")
    return [
        StoryStep(name="made", do=lambda: store.save(one)),
        StoryStep(name="another", do=lambda: store.save(two)),
        StoryStep(
            name="noted",
            do=lambda: store.save_or_defer_record(evolve(two, pid=7)),
            owed=True,
            needs="another",
        ),
        StoryStep(name="placed", do=lambda: store.set_positions({"1": 5, "2": 4}), needs="noted"),
        StoryStep(name="renamed", do=lambda: store.save(evolve(one, name="new")), needs="made"),
        StoryStep(name="removed", do=lambda: store.delete_record("1"), holds=True),
        StoryStep(name="dropped", do=lambda: store.delete_or_defer_record("2"), owed=True),
    ]


def _typing(world: StoryHarness) -> Sequence[StoryStep]:
    journal = InputJournal(world.database, world.clock)

    begun: dict[str, Typed] = {}

    def accept(name: str, number: int, kind: InputKind, client: str = "me") -> StoryStep:
        def do() -> None:
            entry = Typed(
                session_id="s",
                id=name,
                kind=kind,
                data=b"x",
                client_id=client,
                seq=number,
                previous_seq=journal.last_seq("s", client),
            )
            begun[name] = journal.accept_entry(entry)

        return StoryStep(name=name, do=do, owed=kind is InputKind.RAW)

    def finish(name: str) -> StoryStep:
        return StoryStep(
            name=f"{name}, typed",
            do=lambda: journal.finish_entry(begun[name]),
            owed=True,
            needs=name,
        )

    return [
        accept("key", 1, InputKind.RAW), finish("key"), accept("another key", 2, InputKind.RAW),
        finish("another key"), accept("prompt", 3, InputKind.PROMPT), finish("prompt"),
        accept("not typed", 1, InputKind.RAW, "new"),
        StoryStep(
            name="given back",
            do=lambda: journal.revoke_entry(begun["not typed"]),
            owed=True,
            needs="not typed",
        ),
        accept("another's", 1, InputKind.RAW, "you"), finish("another's"),
    ]  # fmt: skip


def _agents(world: StoryHarness) -> Sequence[StoryStep]:
    store, places = AgentStore(world.database), ReadPositionStore(world.database)
    usage, used = PlanUsage(at=1), UsageStore(world.database, most=KEPT)
    message = MessageUsage(name="m", used=ModelUsage(model="opus", output=1))
    beside = ReadPosition(path="/b", position=5)
    return [
        StoryStep(name="file", do=lambda: store.save_transcript_path("s", "/a"), owed=True),
        StoryStep(name="usage", do=lambda: store.save_plan_usage(usage), owed=True),
        StoryStep(
            name="place", do=lambda: places.save_position("s", ReadPosition(path="/a", position=3))
        ),
        StoryStep(
            name="more", do=lambda: places.save_position("s", ReadPosition(path="/a", position=9))
        ),
        *(
            StoryStep(name=f"used {name}", do=partial(used.merge_usage, "s", {name: message}))
            for name in ("m", "n", "o", "p")
        ),
        StoryStep(name="beside", do=lambda: places.save_related("s", beside)),
        StoryStep(
            name="gone", do=lambda: places.delete_related_position("s", "/b"), needs="beside"
        ),
        StoryStep(name="later", do=lambda: store.save_plan_usage(evolve(usage, at=2)), owed=True),
    ]


def _approvals(world: StoryHarness) -> Sequence[StoryStep]:
    store = ApprovalStore(world.database)

    def item(number: int) -> ApprovalItem:
        return ApprovalItem(
            id=f"s:{number}",
            session_id="s",
            session_name="s",
            owner=None,
            kind=ItemKind.IDLE,
            created_at=number,
            frame="",
        )

    return [
        StoryStep(name="one", do=lambda: store.save_item(item(1)), owed=True),
        StoryStep(name="two", do=lambda: store.save_item(item(2)), owed=True),
        StoryStep(name="answered", do=lambda: store.clear_item("s"), owed=True),
    ]


def _webhooks(world: StoryHarness) -> Sequence[StoryStep]:
    outbox = WebhookOutbox(world.database)

    def message(title: str) -> WebhookMessage:
        return WebhookMessage(
            event="e", title=title, body="", urgency=MessageUrgency.INFO, host="h", at=1
        )

    return [
        StoryStep(name="a", do=lambda: outbox.add_message(message("a"), 5), owed=True),
        StoryStep(name="b", do=lambda: outbox.add_message(message("b"), 6), owed=True),
        StoryStep(name="failed", do=lambda: outbox.postpone_message(1, 1, 50)),
        StoryStep(
            name="result", do=lambda: outbox.save_result(DeliveryResult(ok=True, at=1)), owed=True
        ),
        StoryStep(name="sent", do=lambda: outbox.remove_message(1)),
        StoryStep(name="hastened", do=lambda: outbox.limit_due_times(7), owed=True),
        StoryStep(name="c", do=lambda: outbox.add_message(message("c"), 8), owed=True),
        StoryStep(name="cleared", do=outbox.clear),
        StoryStep(name="d", do=lambda: outbox.add_message(message("d"), 9), owed=True),
    ]


def _cron(world: StoryHarness) -> Sequence[StoryStep]:
    store = CronStore(world.database)
    definition = JobDefinition(
        name="j", agent_type="shell", working_dir="/", prompt_mode=PromptMode.INLINE,
        prompt_text="x", input_mode=InputMode.PASTE,
        schedule=JobSchedule(type=ScheduleType.INTERVAL, interval_minutes=5), enabled=True,
        concurrency_policy=ConcurrencyPolicy.SKIP,
    )  # fmt: skip
    job = CronJob(id="1", owner="ann", definition=definition, created_at=1, updated_at=1)
    other = evolve(job, id="2")
    run = CronRun(
        id="r", job_id="1", trigger=RunTrigger.MANUAL, status=RunStatus.CREATED, started_at=2
    )
    ran = evolve(job, last_run_at=2)
    done = evolve(run, status=RunStatus.PROMPT_SENT, finished_at=3)
    return [
        StoryStep(name="made", do=lambda: store.save_jobs_and_runs([job])),
        StoryStep(name="another", do=lambda: store.save_jobs_and_runs([other])),
        StoryStep(name="run", do=lambda: store.save_jobs_and_runs([ran], [run]), needs="made"),
        StoryStep(
            name="done", do=lambda: store.save_or_defer([ran], [done]), owed=True, needs="run"
        ),
        StoryStep(name="removed", do=lambda: store.delete_job("2")),
        StoryStep(
            name="dropped", do=lambda: store.delete_or_defer_job("1"), owed=True, needs="made"
        ),
    ]


class _SmallAuditLog:
    """A log of so few rows that the oldest go."""

    def __init__(self) -> None:
        self._logs: dict[int, AuditLog] = {}

    def told(self, world: StoryHarness) -> Sequence[StoryStep]:
        log = AuditLog(world.database, world.clock, bounds={**BOUNDS, ORDINARY: 2 * KEPT})
        self._logs[id(world)] = log

        def noted(action: str) -> Callable[[], object]:
            return lambda: log.record_entry(AuditEntry(action=action))

        return [StoryStep(name=name, do=noted(name), owed=True) for name in "abcdef"]

    def waits(self, world: StoryHarness) -> int:
        return len(world.database.deferred_writes) + len(self._logs[id(world)]._waiting)


_AUDIT = _SmallAuditLog()


def _case_book(world: StoryHarness) -> Sequence[StoryStep]:
    store = CaseStore(world.database)
    one = CaseRow(
        owner="ann", name="one", path="/srv/one", description=None, created_at=1, worktree=None
    )
    return [
        StoryStep(name="linked", do=lambda: store.save_row(one)),
        StoryStep(
            name="another", do=lambda: store.save_row(evolve(one, name="two", path="/srv/two"))
        ),
        StoryStep(name="doomed", do=lambda: store.schedule_removal("/trash/one", OWN_LOCATION, 5)),
        StoryStep(
            name="doomed too", do=lambda: store.schedule_removal("/trash/two", OWN_LOCATION, 6)
        ),
        StoryStep(
            name="later", do=lambda: store.postpone_removal("/trash/two", 9), needs="doomed too"
        ),
        StoryStep(
            name="made", do=lambda: store.save_row(evolve(one, name="three"), spared="/trash/one")
        ),
        StoryStep(name="forgotten", do=lambda: store.delete_row("ann", "two"), needs="another"),
        StoryStep(
            name="taken back",
            do=lambda: store.delete_or_defer_row("ann", "three"),
            owed=True,
            needs="made",
        ),
        StoryStep(
            name="removed", do=lambda: store.cancel_removal("/trash/two"), needs="doomed too"
        ),
        StoryStep(name="ordered", do=lambda: store.put_order("ann", ["three", "one"])),
        StoryStep(name="again", do=lambda: store.put_order("ann", ["one", "three"])),
        StoryStep(
            name="strangers",
            do=lambda: store.delete_stale_orders(lambda name: False),
            owed=True,
            needs="again",
        ),
    ]


def _restore(world: StoryHarness) -> Sequence[StoryStep]:
    store = RestoreStore(world.database)
    return [
        StoryStep(name="first boot", do=lambda: store.record_boot("1", {}, 1)),
        StoryStep(name="lost", do=lambda: store.record_loss("s", 5), owed=True),
        StoryStep(name="found", do=lambda: store.clear_loss("s"), owed=True, needs="lost"),
        StoryStep(name="stopped", do=lambda: store.record_stop(6), owed=True, needs="first boot"),
        StoryStep(name="second boot", do=lambda: store.record_boot("2", {"s": 100}, 7)),
        StoryStep(name="spent", do=lambda: store.remove_offer("s"), owed=True, needs="second boot"),
        StoryStep(name="third boot", do=lambda: store.record_boot("3", {"s": 200}, 8)),
        StoryStep(name="dismissed", do=lambda: store.remove_offers(["s"]), needs="third boot"),
    ]


def _intents(world: StoryHarness) -> Sequence[StoryStep]:
    store = IntentStore(world.database)
    own = Intent(key="a", owner="ann", working_dir="/a", updated_at=1)
    other = Intent(key="b", owner="bob", working_dir="/b", updated_at=2)
    return [
        StoryStep(name="on", do=lambda: store.record_collection_start("primary", 1), owed=True),
        StoryStep(name="kept", do=lambda: store.replace_intent(own)),
        StoryStep(name="another", do=lambda: store.replace_intent(other)),
        StoryStep(
            name="noted",
            do=lambda: store.save_collected_prompts(evolve(own, goals="ship")),
            owed=True,
        ),
        StoryStep(name="deleted", do=lambda: store.delete_intent("b", 3), needs="another"),
        StoryStep(name="off", do=lambda: store.record_collection_end("primary"), owed=True),
        StoryStep(
            name="strangers",
            do=lambda: store.delete_unknown_owners(lambda name: False),
            owed=True,
            needs="kept",
        ),
    ]


def _webviews(world: StoryHarness) -> Sequence[StoryStep]:
    store = WebViewStore(world.database)
    one = WebView(id="1", owner="ann", name="a", url="http://a/", icon=None, created_at=1)
    return [
        StoryStep(name="kept", do=lambda: store.save(one)),
        StoryStep(name="another", do=lambda: store.save(evolve(one, id="2", owner="bob"))),
        StoryStep(
            name="opened", do=lambda: store.save_deferred(evolve(one, last_opened_at=5)), owed=True
        ),
        StoryStep(name="deleted", do=lambda: store.delete("2"), needs="another"),
        StoryStep(
            name="strangers",
            do=lambda: store.delete_unknown_owners(lambda name: False),
            owed=True,
            needs="kept",
        ),
    ]


STORIES = [
    StoreStory(
        [
            "review_bases",
            "review_starts",
            "review_viewed",
            "review_comments",
            "review_copies",
            "review_turns",
            "review_turn_files",
            "review_turn_contents",
        ],
        tell_reviews,
    ),
    StoreStory(
        ["case_checks", "check_runs", "check_progress", "check_file_approvals"], tell_checks
    ),
    StoreStory(["input_doubts"], tell_unconfirmed_prompts),
    StoreStory(["trusted_folders"], tell_trusted_folders),
    StoreStory(["approval_rules", "approval_history"], tell_approval_rules),
    StoreStory(["input_buffer"], tell_buffered_input),
    StoreStory(["webviews"], _webviews),
    StoreStory(
        ["container_service", "container_hosts", "case_containers", "container_bridges"],
        tell_containers,
    ),
    StoreStory(["restore_host", "restore_offers", "restore_losses"], _restore),
    StoreStory(["intents", "collected_since"], _intents),
    StoreStory(["cases", "case_trash", "case_orders"], _case_book),
    StoreStory(["accounts", "former_accounts"], _accounts),
    StoreStory(["account_moves"], tell_moves),
    StoreStory(["auth_sessions"], _cookies),
    StoreStory(["api_tokens"], _tokens),
    StoreStory(["push_subscriptions"], _pushes),
    StoreStory(["sessions"], _sessions),
    StoreStory(
        ["input_journal", "input_marks"],
        _typing,
        look={"input_marks": "SELECT session_id, client_id, seq FROM input_marks ORDER BY used"},
    ),
    StoreStory(
        ["agent_sessions", "plan_usage", "transcripts", "transcript_files", "message_usage"],
        _agents,
    ),
    StoreStory(["approvals"], _approvals),
    StoreStory(["webhook_outbox", "webhook_result"], _webhooks),
    StoreStory(["notification_rules"], tell_notification_rules),
    StoreStory(["session_absences"], tell_absences),
    StoreStory(["cron_jobs", "cron_runs"], _cron),
    StoreStory(
        ["audit_log"],
        _AUDIT.told,
        _AUDIT.waits,
        # To let go of old rows may be owed.
        look={"audit_log": f"SELECT * FROM audit_log ORDER BY seq DESC LIMIT {KEPT}"},
    ),
]
"""Every table of the database is in one of them, and so is every write."""
