"""Reading and replacing the rules of an account."""

from __future__ import annotations

from tservice.core.kernel.errors import make_field_error
from tservice.notifications.model import ChannelRule, NoticeRules, WebhookRule
from tservice.notifications.responses import (
    NoticeResultResponse,
    NoticeRulesResponse,
    make_rules_response,
)
from tservice.notifications.service import NoticeService
from tservice.notify.interfaces import IAccountWebhooks
from tservice.settings.interfaces import ISettings


class RuleEditor:
    """Rules as clients read and replace them."""

    def __init__(
        self, notices: NoticeService, webhooks: IAccountWebhooks, settings: ISettings
    ) -> None:
        self._notices = notices
        self._webhooks = webhooks
        self._settings = settings

    def describe_rules(self, account: str) -> NoticeRulesResponse:
        """Return the rules of an account, or those that describe what the settings do."""
        rules = self._notices.find_rules(account)

        def last_result(webhook: str) -> NoticeResultResponse | None:
            found = self._webhooks.last_result(account, webhook)
            if found is None:
                return None
            return NoticeResultResponse.model_validate(found, from_attributes=True)

        shown = rules or self._describe_settings()
        return make_rules_response(shown, rules is not None, last_result)

    def replace_rules(self, account: str, rules: NoticeRules | None) -> None:
        """Replace the rules of an account; C{None} goes back to the settings.

        A webhook without a URL keeps the one that was saved under its id.

        @raise ServiceError: 400: an id is used twice, or a URL is missing or refused.
        """
        if rules is not None:
            rules = rules.model_copy(update={"webhooks": self._complete(account, rules)})
        self._notices.replace_rules(account, rules)

    def _complete(self, account: str, rules: NoticeRules) -> tuple[WebhookRule, ...]:
        before = self._notices.find_rules(account)
        known = {each.id: each.url for each in before.webhooks} if before else {}
        found: dict[str, WebhookRule] = {}
        for number, webhook in enumerate(rules.webhooks):
            field = f"webhooks.{number}"
            if webhook.id in found:
                raise make_field_error(f"{field}.id", "is used twice")
            url = webhook.url or known.get(webhook.id, "")
            if not url:
                raise make_field_error(f"{field}.url", "must not be empty")
            self._webhooks.check_url(account, f"{field}.url", url)
            found[webhook.id] = webhook.model_copy(update={"url": url})
        return tuple(found.values())

    def _describe_settings(self) -> NoticeRules:
        """Return rules that say what happens without rules."""
        preferences = self._settings.get().notification_preferences
        channel = ChannelRule(enabled=preferences.enabled, events=preferences.events)
        return NoticeRules(
            browser=channel, push=channel, only_unwatched=False, group_families=False, digest=False
        )
