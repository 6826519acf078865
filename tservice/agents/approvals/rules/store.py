"""Tables of approval rules, and of the last questions with their answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from sqlite3 import Row
from typing import Any

from attrs import asdict, evolve

from tservice.agents.approvals.rules.model import (
    AnsweredRequest,
    ApprovalRule,
    RequestAnswer,
    RuleAction,
    RuleMatch,
    RuleScope,
    StoredRule,
    ToolRequest,
)
from tservice.store.database import Database

MAX_REQUESTS = 500
"""Maximum number of questions that are kept for an account; the oldest is dropped first."""
SUBJECT_CHARS = 2000
"""Maximum length of a command, path or address in the history; a longer one is cut."""

_SAVE = """
    INSERT INTO approval_rules (id, owner, rule) VALUES (?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET rule = excluded.rule
"""
_TRIM = """
    DELETE FROM approval_history WHERE owner = ?1 AND number <= (
        SELECT number FROM approval_history WHERE owner = ?1
        ORDER BY number DESC LIMIT 1 OFFSET ?2
    )
"""
_LAST = "SELECT * FROM approval_history WHERE owner = ? ORDER BY number DESC"


class ApprovalRuleStore:
    """Access to the tables. The owner is C{""} if there are no accounts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load_rules(self) -> list[StoredRule]:
        """Return the rules of all accounts."""
        sql = "SELECT * FROM approval_rules ORDER BY id"
        return self._database.read_records(_read_rule, sql, named="approval_rules.id")

    def save_rule(self, rule: ApprovalRule) -> None:
        """Insert or update a rule, and keep its number of hits.

        @raise DiskFull: the disk is full.
        """
        self._database.execute(_SAVE, (rule.id, rule.owner, json.dumps(asdict(rule))))

    def save_hit(self, rule_id: str, hits: int, at: int) -> None:
        """Store how often a rule has answered; deferred if the disk is full."""
        sql = "UPDATE approval_rules SET hits = ?, last_hit_at = ? WHERE id = ?"
        self._database.execute_or_defer(("approval rule", rule_id), sql, (hits, at, rule_id))

    def delete_rule(self, rule_id: str) -> None:
        """Delete a rule, and a deferred write of its hits.

        @raise DiskFull: the disk is full.
        """
        self._database.execute("DELETE FROM approval_rules WHERE id = ?", (rule_id,))

    def delete_stale_rule(self, rule_id: str) -> None:
        """Delete a rule that can no longer apply; deferred if the disk is full."""
        sql = "DELETE FROM approval_rules WHERE id = ?"
        self._database.execute_or_defer(("approval rule", rule_id), sql, (rule_id,))

    def save_answer(self, answered: AnsweredRequest) -> None:
        """Store a question with its answer, and drop the oldest ones beyond the bound.

        @raise DiskFull: the disk is full.
        """
        request = answered.request
        subject = request.subject
        if subject is not None and len(subject) > SUBJECT_CHARS:
            request = evolve(request, subject=subject[:SUBJECT_CHARS], is_complete=False)
        row = (
            request.owner, answered.at, answered.item_id, json.dumps(asdict(request)),
            answered.answer.value, answered.rule_id, answered.rule_name,
        )  # fmt: skip
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO approval_history"
                " (owner, at, item_id, request, answer, rule_id, rule_name)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            self._database.execute(_TRIM, (request.owner, MAX_REQUESTS))

    def list_answers(self, owner: str) -> list[AnsweredRequest]:
        """Return the last questions of an account's agents, newest first."""
        return [_read_answer(row) for row in self._database.query_rows(_LAST, (owner,))]

    def delete_unknown_rules(self, known: Callable[[str], bool]) -> None:
        """Remove the rules of accounts that no longer exist.

        If the disk is full, it is removed later, before a new account is stored.

        @param known: returns true if an account exists.
        """
        self._delete_unknown_owners("approval_rules", known)

    def delete_unknown_answers(self, known: Callable[[str], bool]) -> None:
        """Remove the questions of accounts that no longer exist, as L{delete_unknown_rules}."""
        self._delete_unknown_owners("approval_history", known)

    def _delete_unknown_owners(self, table: str, known: Callable[[str], bool]) -> None:
        sql = f"SELECT DISTINCT owner FROM {table} WHERE owner != ''"  # noqa: S608
        for owner in [str(row["owner"]) for row in self._database.query_rows(sql)]:
            if not known(owner):
                forget = f"DELETE FROM {table} WHERE owner = ?"  # noqa: S608
                self._database.execute_or_defer((table, owner), forget, (owner,))


def _read_rule(row: Row) -> StoredRule:
    fields = json.loads(row["rule"])
    match: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields.pop("match").items()
    }
    scope = RuleScope(**fields.pop("scope"))
    action = RuleAction(fields.pop("action"))
    rule = ApprovalRule(**fields, scope=scope, action=action, match=RuleMatch(**match))
    return StoredRule(rule=rule, hits=row["hits"], last_hit_at=row["last_hit_at"])


def _read_answer(row: Row) -> AnsweredRequest:
    return AnsweredRequest(
        at=row["at"],
        item_id=row["item_id"],
        request=ToolRequest(**json.loads(row["request"])),
        answer=RequestAnswer(row["answer"]),
        rule_id=row["rule_id"],
        rule_name=row["rule_name"],
    )
