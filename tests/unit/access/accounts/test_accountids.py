"""Ids of accounts: what goes by them never reaches the next account of a name."""

from __future__ import annotations

import os

from tests.callers import GRANTED
from tests.unit.access.harness import PASSWORD, AccountCase
from tservice.access.accounts.account import AccountRole
from tservice.cases.model import CaseRow
from tservice.cases.store import CaseStore
from tservice.containers.model import ContainerCase, ContainerHost, EngineKind
from tservice.containers.store import ContainerStore


class IdTests(AccountCase):
    def setUp(self) -> None:
        super().setUp()
        self.make()

    def random(self, size: int) -> bytes:
        return os.urandom(size)

    def make(self) -> str:
        work = self.accounts.create_account(
            "bob",
            AccountRole.USER,
            PASSWORD,
            can_bypass_permissions=False,
            caller=GRANTED,
        )
        return self.now(work)[0].id

    def test_namesake_has_another_id(self) -> None:
        first = self.accounts.find_account_id("bob")
        self.accounts.remove_account("bob")
        self.assertEqual(first, self.accounts.find_account_id("bob"))
        self.assertEqual(first, self.start().find_account_id("bob"))
        second = self.make()
        self.assertNotEqual(first, second)
        for accounts in (self.accounts, self.start()):
            self.assertEqual(second, accounts.find_account_id("bob"))
        self.assertIsNone(self.accounts.find_account_id("nobody"))

    def test_change_keeps_the_id(self) -> None:
        first = self.accounts.find_account_id("bob")
        self.now(self.accounts.reset_password("bob", GRANTED))
        self.assertEqual(
            (first, first),
            (self.accounts.find_account_id("bob"), self.start().find_account_id("bob")),
        )

    def test_removed_account_leaves_cases_and_containers_to_nobody(self) -> None:
        cases = CaseStore(self.database)
        containers = ContainerStore(self.database, lambda: "s")
        containers.save_host(ContainerHost(id="h", label="h", engine=EngineKind.DOCKER, image="i"))
        cases.save_row(CaseRow(owner="bob", name="shop", path="/srv/shop", created_at=1))
        box = ContainerCase(owner="bob", name="shop", container="c", host_id="h", path="/srv/shop")
        containers.save_case(box)
        self.accounts.remove_account("bob")
        self.make()
        self.assertEqual([], cases.list_rows("bob"))
        self.assertIsNone(containers.find_case("bob", "shop"))
        # Its sessions go on: their place is known by the container.
        self.assertIsNotNone(containers.find_by_container("c"))
        cases.save_row(CaseRow(owner="bob", name="shop", created_at=2))

    def test_last_thousand_removed_accounts_are_remembered(self) -> None:
        ids = []
        for _ in range(1002):
            found = self.accounts.find_account_id("bob")
            assert found is not None
            ids.append(found)
            self.accounts.remove_account("bob")
            self.make()
        rows = self.database.query_rows("SELECT id FROM former_accounts ORDER BY position")
        self.assertEqual(ids[-1000:], [row["id"] for row in rows])
