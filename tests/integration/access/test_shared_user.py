"""Accounts without OS users are one user: the log of a start says so."""

from __future__ import annotations

from tests.integration.access.harness import ADMIN, WORD
from tests.integration.harness import DaemonCase

SAID = "2 accounts have no OS user: they are one user with several passwords"


class SharedUserTests(DaemonCase):
    def test_start_says_what_accounts_without_os_users_are(self) -> None:
        service = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD).start()
        self.assertNotIn("one user with several passwords", service.log)
        body = {"username": "kim", "password": WORD, "canBypassPermissions": False}
        service.request("POST", "/api/admin/users", body, ADMIN).data()
        service.stop()
        service.start()
        self.assertIn(SAID, service.log)
