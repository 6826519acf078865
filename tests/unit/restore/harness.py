"""A machine that goes down and comes up again, on fakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.fakes.multiplexer.multiplexer import FakeMultiplexer
from tests.unit.cases.fake_cases import build_fake_cases
from tests.unit.sessions.harness import ADMIN, SessionCase, SessionHarness, start_coroutine
from tservice.core.callers.caller import Caller
from tservice.core.callers.identity import Identity
from tservice.core.kernel.events import EventHub
from tservice.restore.build import build_offer_registry, build_restore
from tservice.restore.recollection import RestoreOfferRegistry
from tservice.restore.service import RestoreService
from tservice.sessions.build import build_sessions
from tservice.sessions.record.model import Session
from tservice.sessions.service import AgentSupport, UncheckedConversations
from tservice.settings.model import Settings


class RestoreMachine(SessionHarness):
    """A machine whose service can restore.

    @ivar accounts: who there is, in multi-user mode.
    """

    multiuser = False
    recollection: RestoreOfferRegistry
    restore: RestoreService

    def boot(self) -> None:
        self.accounts: dict[str, Identity] = getattr(self, "accounts", {})
        self.mux = FakeMultiplexer(self.clock, self.host)
        self.hub = EventHub()
        self.hub.subscribe(self.events.append)
        self.clis = self._clis()
        file = self.folder / "boot_id"
        if not file.exists():
            file.write_text("boot-1\n")
        config = evolve(self.config, boot_id_file=file, multiuser=self.multiuser)
        ground = self.ground(config=config)
        self.recollection = build_offer_registry(ground, clis=self.clis)
        conversations = UncheckedConversations()
        cases = build_fake_cases(ground, lambda: self.sessions).service
        self.sessions = build_sessions(
            ground,
            mux=self.mux,
            clis=self.clis,
            api_url=lambda: "http://127.0.0.1:8770",
            set_priority=self.renice,
            cases=cases,
            support=AgentSupport(
                gate=self.gate, conversations=conversations, recollection=self.recollection
            ),
        ).service
        self.restore = build_restore(
            ground,
            recollection=self.recollection,
            sessions=self.sessions,
            clis=self.clis,
            conversations=conversations,
            identity=self._identity,
            folder=cases.resolve_folder,
        ).service

    def _identity(self, owner: str | None) -> Identity | None:
        if not self.multiuser:
            return make_caller(username="admin", admin=True)
        return self.accounts.get(owner or "")


class RestoreHarnessCase(SessionCase):
    """Tests with an open service that can restore."""

    multiuser = False
    machine: RestoreMachine

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        kind = type("Kind", (RestoreMachine,), {"multiuser": self.multiuser})
        self.machine = kind(folder, self.program)
        self.clock, self.host = self.machine.clock, self.machine.host
        self.boot_id = folder / "boot_id"
        self.boots = 1
        self.work = folder / "work"
        self.work.mkdir()
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.run_now(self.restore.start())
        self.addCleanup(self.machine.crash)

    @property
    def restore(self) -> RestoreService:
        return self.machine.restore

    def reboot(self, *, stop: bool = False, away: float = 60.0) -> None:
        """The machine goes down and comes up again.

        @param stop: the service was stopped in good order before.
        """
        if stop:
            self.stop()
        self.machine.crash()
        for pane in tuple(self.host.panes):
            self.host.lose_server(pane)
        self.boots += 1
        self.boot_id.write_text(f"boot-{self.boots}\n")
        self.clock.advance(away)
        self.come_up()

    def crash(self) -> None:
        """The service alone is killed, and starts again."""
        self.machine.crash()
        self.come_up()

    def come_up(self) -> None:
        """The service starts."""
        self.machine.events.clear()
        self.machine.boot()
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.run_now(self.restore.start())

    def stop(self) -> None:
        """The service ends in good order; panes run on."""
        self.run_now(self.restore.stop())
        self.sessions.close()

    def agent(self, mode: str = "primary", conversation: str = "c-1", **more: Any) -> Session:
        """A running agent in C{self.work} that told of a conversation."""
        session = self.create(mode=mode, working_dir=str(self.work), start=True, **more)
        return self.sessions.update_record(session.id, conversation_ids=(conversation,))

    def offered(self, who: Caller | None = None) -> list[str]:
        """The ids of what is offered."""
        offer = self.run_now(self.restore.get_offer(who or ADMIN))
        return [one.session.id for one in offer.sessions]

    def bring_back(self, *ids: str, who: Caller | None = None) -> dict[str, Any]:
        """Restore, and let the time pass that it takes."""
        working = start_coroutine(self.restore.restore_sessions(who or ADMIN, ids or None))
        self.spend(60)
        found: dict[str, Any] = to_wire(self.successResultOf(working))
        return found

    def outcomes(self, *ids: str, who: Caller | None = None) -> dict[str, str]:
        """What became of each, by id."""
        found = self.bring_back(*ids, who=who)
        return {each["sessionId"]: each["outcome"] for each in found["entries"]}

    def change_settings(self, **fields: Any) -> None:
        settings = self.machine.settings
        settings.now = Settings.model_construct(**{**dict(settings.now), **fields})
