"""Records of notices and of the rules by which an account gets them (protocol-notices)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from attrs import frozen
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel

from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.text import LINE

WEBHOOKS_LIMIT = 5
"""Maximum number of webhooks of an account."""

NoticeKind = Literal[
    "permission_prompt",
    "elicitation_dialog",
    "idle_prompt",
    "stop",
    "exit",
    "error",
    "limit_pause",
    "run_failed",
    "stalled",
]
NoticeUrgency = Literal["critical", "warning", "info"]
WebhookKind = Literal["ntfy", "slack", "discord", "generic"]
WebhookScope = Literal["attention", "all"]

ASKING: frozenset[NoticeKind] = frozenset({"permission_prompt", "elicitation_dialog"})
"""Kinds of notices about a dialog, which end with it."""
NEEDS_PERSON: frozenset[str] = frozenset(
    {"permission_prompt", "elicitation_dialog", "idle_prompt", "error", "stalled"}
)
"""Kinds of notices after which a session does not continue without a person."""

URGENCIES: dict[NoticeKind, NoticeUrgency] = {
    "permission_prompt": "critical",
    "elicitation_dialog": "critical",
    "idle_prompt": "warning",
    "stop": "info",
    "exit": "info",
    "error": "critical",
    "limit_pause": "warning",
    "run_failed": "warning",
    "stalled": "warning",
}
"""Urgency of each kind, unless the account's rules name another."""


def _check_size(value: object) -> object:
    """Refuse more kinds than there are before each of them is looked at."""
    if isinstance(value, dict) and len(value) > len(URGENCIES):
        raise ValueError(f"must name at most {len(URGENCIES)} kinds")
    return value


UrgencyByKind = Annotated[dict[NoticeKind, NoticeUrgency], BeforeValidator(_check_size)]


def find_zone(name: str) -> ZoneInfo:
    """Return the time zone with an IANA name.

    @raise ValueError: the machine knows no such zone.
    """
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError("must be the name of a time zone, as Europe/Berlin") from None


def _refuse_duplicates(items: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(items)) != len(items):
        raise ValueError("must not name anything twice")
    return items


def _check_zone(name: str) -> str:
    find_zone(name)
    return name


ZoneName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_+/-]+$", max_length=64),
    AfterValidator(_check_zone),
]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
NoticeKinds = Annotated[
    tuple[NoticeKind, ...],
    Field(max_length=16, strict=False),
    FAIL_FAST,
    AfterValidator(_refuse_duplicates),
]
WebhookId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,32}$")]


class RulesRecord(BaseModel):
    """Frozen and strict model; camelCase on the disk and on the wire."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


class ChannelRule(RulesRecord):
    """Which notices an account's pages, or its browsers by push, show."""

    enabled: bool = False
    events: NoticeKinds = ("permission_prompt", "elicitation_dialog", "idle_prompt")


class WebhookRule(RulesRecord):
    """Webhook of an account.

    @ivar scope: C{attention} is every urgency except C{info}.
    @ivar events: kinds that it gets; C{None} means every kind that C{scope} selects.
    @ivar url: a secret, which is never answered.
    """

    id: WebhookId
    name: Annotated[str, StringConstraints(pattern=f"^{LINE}$", max_length=60)] = ""
    enabled: bool = True
    kind: WebhookKind = "generic"
    scope: WebhookScope = "attention"
    events: NoticeKinds | None = None
    url: Annotated[str, StringConstraints(max_length=2048), Field(repr=False)] = ""


class QuietHours(RulesRecord):
    """Daily time without notices; C{end} before C{start} is on the next day.

    @ivar critical: true if critical notices ring nevertheless.
    """

    enabled: bool = False
    start: TimeOfDay = "22:00"
    end: TimeOfDay = "07:00"
    time_zone: ZoneName = "UTC"
    critical: bool = False

    @model_validator(mode="after")
    def _check_span(self) -> Self:
        if self.enabled and self.start == self.end:
            raise ValueError("start and end must differ")
        return self


class NoticeRules(RulesRecord):
    """Rules of one account.

    @ivar only_unwatched: no notice about a session while a person of the account looks at it.
    @ivar urgency: urgencies that replace those of L{URGENCIES}.
    @ivar group_families: a session and the sessions that it made announce themselves together.
    @ivar digest: what was held back is announced as one notice.
    """

    browser: ChannelRule = ChannelRule()
    push: ChannelRule = ChannelRule()
    webhooks: Annotated[
        tuple[WebhookRule, ...], Field(strict=False, max_length=WEBHOOKS_LIMIT), FAIL_FAST
    ] = ()
    only_unwatched: bool = True
    quiet_hours: QuietHours = QuietHours()
    urgency: UrgencyByKind = {}
    group_families: bool = True
    digest: bool = True

    def get_urgency(self, kind: NoticeKind) -> NoticeUrgency:
        """Return the urgency of notices of a kind."""
        return self.urgency.get(kind, URGENCIES[kind])


class ChannelKind(StrEnum):
    """Ways by which a notice reaches a person."""

    BROWSER = "browser"
    PUSH = "push"
    WEBHOOK = "webhook"


@frozen(kw_only=True)
class Notice:
    """Announcement of an event about a session, for one account.

    @ivar account: the account's name; empty in single-user mode.
    @ivar family: id of the session at the top of the family of sessions.
    @ivar says: text that follows the session's name, such as C{asks for permission}.
    @ivar body: one line with details; may be empty.
    @ivar at: time of the event, Unix milliseconds.
    """

    account: str
    kind: NoticeKind
    session_id: str
    session_name: str
    family: str
    says: str
    body: str = ""
    at: int

    @property
    def needs_person(self) -> bool:
        """True if the session does not continue without a person.

        An idle session that another one made waits for that one.
        """
        return self.kind in NEEDS_PERSON and not (self.kind == "idle_prompt" and self.is_child)

    @property
    def is_child(self) -> bool:
        """True if another session made the session."""
        return self.family != self.session_id


@frozen(kw_only=True)
class NoticeTarget:
    """Channel of an account.

    @ivar webhook: id of the webhook; C{None} for other channels.
    """

    channel: ChannelKind
    webhook: str | None = None
