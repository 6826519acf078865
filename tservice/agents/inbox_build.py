"""Putting the inbox, the transcripts, the limits and the automatic commands together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from attrs import field, frozen
from twisted.internet.interfaces import IReactorTime

from tservice.agents.approvals.inbox import Inbox
from tservice.agents.approvals.service import Approvals
from tservice.agents.approvals.store import ApprovalStore
from tservice.agents.interfaces import IAgents
from tservice.agents.transcripts.history import History
from tservice.agents.transcripts.homes import Homes, own_files
from tservice.agents.transcripts.prices import Prices, packaged_prices
from tservice.agents.transcripts.service import InThread, Transcripts, TranscriptStore
from tservice.agents.upkeep.automatic import Automatic
from tservice.agents.upkeep.limits import Limits
from tservice.clis.interfaces import ICliRegistry
from tservice.core.events import EventHub
from tservice.core.users.osuser import OsUsers
from tservice.sessions.interfaces import ISessions
from tservice.settings.interfaces import ISettings
from tservice.store.database import Database

LOCAL_TIME = Path("/etc/localtime")


@frozen(kw_only=True)
class ApprovalSurroundings:
    """What these parts live on.

    @ivar home: of whoever the panes run as.
    @ivar os_users: transcripts in their homes are read as they.
    @ivar local: the zone of the machine's own times.
    @ivar in_thread: runs what reads files; C{deferToThread} of the program, at once in tests.
    """

    clock: IReactorTime
    database: Database
    hub: EventHub
    sessions: ISessions
    agents: IAgents
    clis: ICliRegistry
    settings: ISettings
    home: Path
    local: tzinfo
    in_thread: InThread
    os_users: OsUsers = field(factory=OsUsers)


@frozen(kw_only=True)
class ApprovalParts:
    """The parts; C{approvals.blocked} is what waits ask, C{approvals.known} what the status shows.

    L{start} them once the sessions are open.  C{approvals_routes.approval_operations} makes their
    routes.
    """

    approvals: Approvals
    transcripts: Transcripts
    history: History
    limits: Limits
    automatic: Automatic
    hub: EventHub

    def start(self) -> None:
        """Read what was kept, and begin to hear."""
        self.approvals.start(self.hub)
        self.transcripts.start(self.hub)
        self.automatic.start()
        self.limits.start()

    def stop(self) -> None:
        """Hear nothing more; what was kept stays on disk."""
        self.limits.stop()
        self.automatic.stop()
        self.transcripts.stop()
        self.approvals.stop()


def build_approvals(around: ApprovalSurroundings) -> ApprovalParts:
    """The parts, not started yet."""
    homes = own_homes(around.home, around.clis, around.os_users)
    inbox = Inbox(around.clock, ApprovalStore(around.database), around.hub)
    store = TranscriptStore(around.database)
    prices = Prices(packaged=packaged_prices(), chosen=lambda: around.settings.get().model_prices)
    transcripts = Transcripts(
        around.clock, around.sessions, around.agents, homes, store, around.in_thread, prices
    )
    automatic = Automatic(around.clock, around.sessions, around.agents, around.hub)
    limits = Limits(around.clock, around.sessions, around.agents, around.hub, around.local)
    transcripts.observers += [automatic.counted, limits.counted]
    return ApprovalParts(
        approvals=Approvals(around.clock, inbox, around.sessions, around.agents, around.settings),
        transcripts=transcripts,
        history=History(around.sessions, homes, around.in_thread),
        limits=limits,
        automatic=automatic,
        hub=around.hub,
    )


def own_homes(home: Path, clis: ICliRegistry, os_users: OsUsers) -> Homes:
    """Where the agents of everybody write."""
    return Homes(own=own_files(home, clis), os_users=os_users)


def local_zone(environ: Mapping[str, str]) -> tzinfo:
    """The machine's zone: C{TZ}, else its own; UTC where neither is known."""
    name = environ.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
        with LOCAL_TIME.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError, KeyError):
        return UTC
