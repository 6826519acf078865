"""Operations on notices: pauses, rules, and the sessions that people look at (protocol-notices)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.core.kernel.event_payloads import EmptyPayload
from tservice.core.kernel.scopes import CHANGES_OWN_SESSIONS
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import omit_if_none
from tservice.http.operation_decorator import OperationFields, operation
from tservice.http.operations import AccessRule, AuditMode, OperationCall, Scope
from tservice.http.validation.models import RequestBody, ResponseModel
from tservice.notifications.model import (
    WEBHOOKS_LIMIT,
    ChannelRule,
    NoticeRules,
    QuietHours,
    UrgencyByKind,
    WebhookRule,
    ZoneName,
    find_zone,
)
from tservice.notifications.responses import NoticeRulesResponse
from tservice.notifications.rule_editor import RuleEditor
from tservice.notifications.service import NoticeService
from tservice.notifications.snoozes.rules import SnoozeChoice
from tservice.notifications.snoozes.service import SnoozeService


class SnoozeBody(RequestBody):
    """End of the snooze: a choice, a time in Unix milliseconds, or null to end it now."""

    until: (
        Annotated[SnoozeChoice, Field(strict=False)] | Annotated[int, Field(ge=0, le=2**53 - 1)]
    ) | None
    time_zone: ZoneName | None = None


class SnoozeEnd(ResponseModel):
    """Pause of the notices; absent if it ended."""

    until: int | None = omit_if_none()


class SnoozeResponse(ResponseModel):
    """Current pause of a session's notices; absent without one."""

    snooze: SnoozeEnd | None = omit_if_none()


class LookBody(RequestBody):
    """Device that shows a session, and whether a person looks at it."""

    device: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")]
    looking: bool


class NoticeRulesBody(RequestBody):
    """Rules that replace those of the caller; absent fields have their defaults.

    With C{custom} false the rules are deleted, and the settings of the service decide again.
    """

    custom: bool = True
    browser: ChannelRule = ChannelRule()
    push: ChannelRule = ChannelRule()
    webhooks: Annotated[list[WebhookRule], Field(max_length=WEBHOOKS_LIMIT), FAIL_FAST] = []
    only_unwatched: bool = True
    quiet_hours: QuietHours = QuietHours()
    urgency: UrgencyByKind = {}
    group_families: bool = True
    digest: bool = True

    def make_rules(self) -> NoticeRules | None:
        """Return the rules; C{None} if the settings decide."""
        if not self.custom:
            return None
        return NoticeRules(**{name: getattr(self, name) for name in NoticeRules.model_fields})


_RULES = OperationFields(
    tag="Notices",
    access=AccessRule.USER,
    scope_reason=(
        "Notices are for a person. A token could send them elsewhere, or switch them off."
    ),
)


class NoticeRoutes:
    """Operations on the notices of the caller; the rules are in the services."""

    def __init__(
        self,
        snoozes: SnoozeService,
        notices: NoticeService,
        editor: RuleEditor,
        multiuser: bool,
    ) -> None:
        self._snoozes = snoozes
        self._notices = notices
        self._editor = editor
        self._multiuser = multiuser

    @operation(
        "POST",
        "/api/sessions/{id}/snooze",
        tag="Notices",
        access=AccessRule.OWNER,
        scope=Scope.SESSIONS_MANAGE,
        scope_reason=CHANGES_OWN_SESSIONS,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
    async def snooze_session(self, call: OperationCall, body: SnoozeBody) -> SnoozeResponse:
        """Pause the notices of a session, or end the pause."""
        zone = None if body.time_zone is None else find_zone(body.time_zone)
        snooze = self._snoozes.set_snooze(call.id, body.until, zone)
        return SnoozeResponse(snooze=None if snooze is None else SnoozeEnd(until=snooze.until))

    @operation(
        "POST",
        "/api/sessions/{id}/look",
        tag="Notices",
        access=AccessRule.OWNER,
        audit=AuditMode.NONE,  # it is repeated every 10 seconds
        scope_reason="Only a page knows that a person looks. A program must not silence notices.",
    )
    async def report_look(self, call: OperationCall, body: LookBody) -> EmptyPayload:
        """Report that a person looks at the session, or no longer does."""
        account = self._get_account(call.caller)
        self._notices.record_look(account, body.device, call.id if body.looking else None)
        return EmptyPayload()

    @operation("GET", "/api/notification-rules", _RULES)
    async def get_rules(self, call: OperationCall) -> NoticeRulesResponse:
        """Get your rules for notices; the URLs of webhooks are never shown."""
        return self._editor.describe_rules(self._get_account(call.caller))

    @operation(
        "PUT",
        "/api/notification-rules",
        _RULES,
        errors=(ErrorCode.INVALID_INPUT, ErrorCode.OPERATION_FAILED),
    )
    async def replace_rules(
        self, call: OperationCall, body: NoticeRulesBody
    ) -> NoticeRulesResponse:
        """Replace your rules for notices."""
        account = self._get_account(call.caller)
        self._editor.replace_rules(account, body.make_rules())
        return self._editor.describe_rules(account)

    def _get_account(self, caller: Identity) -> str:
        return caller.username if self._multiuser else ""
