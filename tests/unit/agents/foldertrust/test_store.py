"""Answers about folders, kept for an owner."""

from __future__ import annotations

from tests.unit.agents.foldertrust.rig import HOOK, FolderTrustCase
from tests.unit.sessions.harness import ADMIN
from tservice.agents.foldertrust.store import KEPT, TrustStore


class OwnersTests(FolderTrustCase):
    """Answers are an account's own."""

    multiuser = True

    def test_answers_are_kept_for_the_owner_of_the_session(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        self.answered(session, "approve")
        digest = self.machine.database.query_first_row("SELECT * FROM trusted_folders")
        assert digest is not None
        self.assertEqual((ADMIN.username, str(self.work)), (digest["owner"], digest["working_dir"]))

    def test_the_oldest_of_too_many_is_asked_for_again(self) -> None:
        store = TrustStore(self.clock, self.machine.database)
        for number in range(KEPT + 1):
            store.save_trust("ann", str(number), "/work")
            self.clock.advance(1)
        store.save_trust("bob", "0", "/work")
        known = [store.is_trusted("ann", str(number)) for number in (0, 1, KEPT)]
        self.assertEqual([False, True, True], known)
        self.assertTrue(store.is_trusted("bob", "0"))

    def test_answers_go_with_the_account(self) -> None:
        store = TrustStore(self.clock, self.machine.database)
        for owner in ("", "ann", "bob"):
            store.save_trust(owner, "0", "/work")
        store.delete_unknown_owners(lambda name: name == "bob")
        known = [store.is_trusted(owner, "0") for owner in ("", "ann", "bob")]
        self.assertEqual([True, False, True], known)
