"""Agents whose dialogs rules may answer, on the agents' rig."""

from __future__ import annotations

from itertools import count
from typing import Any

from attrs import define, field
from zope.interface import implementer

from tests.unit.agents.approvals_harness import ApprovalCase
from tests.unit.agents.dialog_client import permission_page
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.rules.answering import RuleAnswerer
from tservice.agents.approvals.rules.model import RuleAction, RuleMatch, RuleScope
from tservice.agents.approvals.rules.service import ApprovalRuleService, RuleDraft
from tservice.agents.approvals.rules.store import ApprovalRuleStore
from tservice.audit.interfaces import AuditEntry, IAuditLog
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import make_not_found_error
from tservice.sessions.interfaces import Session


@implementer(IAuditLog)
@define
class AuditList:
    """Audit log that keeps its entries."""

    entries: list[AuditEntry] = field(factory=list)

    def record_entry(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    def record_summed(self, entry: AuditEntry, amount: int) -> None:
        raise AssertionError("nothing is summed")


def draft(*words: str, action: str = "allow", **fields: Any) -> RuleDraft:
    given = {"match": RuleMatch(prefix=words), "scope": RuleScope(), "tool": "Bash", **fields}
    return RuleDraft(action=RuleAction(action), **given)


class RuleCase(ApprovalCase):
    """Agents with rules."""

    def setUp(self) -> None:
        super().setUp()
        self.account: Identity | None = Identity(username="admin", admin=True)
        self.audit = AuditList()
        self.open_rules()

    def open_rules(self) -> None:
        numbers = count()
        self.rules = ApprovalRuleService(
            self.clock,
            ApprovalRuleStore(self.machine.database),
            self.sessions,
            lambda: f"rule{next(numbers)}",
            lambda caller: None,
            self.check_case,
        )
        self.answerer = RuleAnswerer(
            self.approvals, self.rules, self.sessions, self.audit, self.machine.hub,
            lambda owner: self.account,
        )  # fmt: skip
        self.agents.channel.decisions.decide_by_rule = self.answerer.answer_hook
        self.answerer.start()
        self.addCleanup(self.answerer.stop)

    async def check_case(self, name: str, caller: Identity) -> None:
        raise make_not_found_error(f"Case {name}")

    def add(self, *words: str, **fields: Any) -> str:
        stored = self.successResultOf(
            start_coroutine(self.rules.create_rule(draft(*words, **fields), ADMIN))
        )
        return str(stored.rule.id)

    def ask_for(self, command: str, *labels: str, shown: str | None = None, **data: Any) -> Session:
        session = self.ready()
        self.ask_again(session, command, *labels, shown=shown, **data)
        return session

    def ask_again(
        self, session: Session, command: str, *labels: str, shown: str | None = None, **data: Any
    ) -> None:
        self.spend(5)
        given = {
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "cwd": self.sessions.get(session.id).working_dir,
            **data,
        }
        self.client(session).ask(permission_page(shown or command, list(labels) or None))
        self.hook(session, "permission_prompt", **given)
        self.spend(5)

    def keys(self, session: Session) -> list[str]:
        return [key for _, key in self.client(session).log]
