"""Accounts and tokens as people manage them, on the real daemon."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.access_harness import PASSWORD, PerimeterCase
from tests.browser.harness import expect_focus

KNOWN = {
    "Inbox",
    "Devices and QR code",
    "Tokens",
    "Users",
    "Audit log",
    "Settings",
    "Keyboard shortcuts",
    "Sign out · anna",
}
"""Entries of the page menu that these tests speak of; other features have their own."""


class FirstAdminPageTests(PerimeterCase):
    @pytest.mark.essential
    def test_first_admin_signs_in_once_adds_a_user_and_signs_out(self) -> None:
        daemon = self.daemon(SERVICE_MULTIUSER="1")
        once = daemon.wait_for_log(r"One-time password for admin: (\S+)").group(1)
        page = self.page(daemon.url)
        self.fill_in(page, "admin", once)
        expect(page.get_by_test_id("first-password")).to_be_visible()
        expect(page.get_by_test_id("open-pages")).to_have_count(0)
        self.choose_password(page, PASSWORD)

        self.open_page(page, "Users")
        word = self.create_user(page, "anna")
        row = page.get_by_test_id("user-anna")
        expect(row).to_contain_text("one-time password")

        other = self.page(daemon.url)
        self.fill_in(other, "anna", word)
        self.choose_password(other, "anna's own word")
        self.assertEqual(
            ["Inbox", "Settings", "Sign out · anna", "Tokens", "Keyboard shortcuts"],
            [entry for entry in self.entries(other) if entry in KNOWN],
        )
        # The list has heard of it by itself.
        expect(row).not_to_contain_text("one-time password")

        self.close_page(page)
        page.get_by_test_id("open-pages").click()
        # Signed out, the page begins anew.
        with page.expect_event("load"):
            page.get_by_role("menuitem", name="Sign out · admin").click()
        expect(page.get_by_test_id("login")).to_be_visible()
        expect_focus(page.get_by_label("User name"))
        self.assertEqual(0, page.get_by_test_id("login-note").count())
        page.reload()
        expect(page.get_by_test_id("login")).to_be_visible()

    def test_forced_password_change_after_a_reload_asks_for_the_current_password(self) -> None:
        daemon = self.people()
        root = self.enter(daemon)
        self.open_page(root, "Users")
        word = self.create_user(root, "anna")
        page = self.page(daemon.url)
        self.fill_in(page, "anna", word)
        expect(page.get_by_test_id("first-password")).to_be_visible()
        page.reload()
        present = page.get_by_label("Current password")
        expect_focus(present)
        present.fill("something else")
        page.get_by_label("New password at least 8 characters").fill(PASSWORD)
        page.get_by_label("Repeat new password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("password-problem")).to_contain_text("current password is wrong")
        present.fill(word)
        self.choose_password(page, PASSWORD)


class UsersTests(PerimeterCase):
    def setUp(self) -> None:
        super().setUp()
        self.running = self.people()
        self.root = self.enter(self.running)
        self.open_page(self.root, "Users")

    def test_last_admin_cannot_be_demoted(self) -> None:
        self.deed(self.root, "root", "Make user")
        problem = self.root.get_by_test_id("user-problem")
        expect(problem).to_contain_text("root is the last enabled admin")
        self.deed(self.root, "root", "Delete")
        expect(problem).to_contain_text("root is the last enabled admin")
        expect(self.root.get_by_test_id("user-root")).to_be_visible()

    def test_users_page_makes_every_change_of_an_account(self) -> None:
        self.create_user(self.root, "anna")
        row = self.root.get_by_test_id("user-anna")
        for label, mark in (
            ("Allow running anything", "can run anything"),
            ("Disable", "disabled"),
            ("Make admin", "admin"),
        ):
            self.deed(self.root, "anna", label)
            expect(row).to_contain_text(mark)
        self.deed(self.root, "anna", "Enable")
        expect(row).not_to_contain_text("disabled")
        self.deed(self.root, "anna", "Reset password")
        self.assertRegex(self.shown_once(self.root), "^[a-z0-9]{20}$")
        self.deed(self.root, "anna", "Delete")
        expect(row).to_have_count(0)

    @pytest.mark.essential
    def test_taken_and_invalid_user_names_are_refused(self) -> None:
        self.root.get_by_test_id("new-user").click()
        name = self.root.get_by_test_id("new-user-name")
        problem = self.root.get_by_test_id("new-user-problem")
        shared = self.root.get_by_test_id("users-shared")
        expect(shared).to_contain_text("one user with several passwords")
        name.fill("-x")
        self.root.keyboard.press("Enter")
        expect(problem).to_contain_text("2 to 32 lowercase letters")
        name.fill("root")
        self.root.keyboard.press("Enter")
        expect(problem).to_contain_text("exists already")

    def test_signed_out_account_loses_its_pages_immediately(self) -> None:
        word = self.create_user(self.root, "anna")
        anna = self.page(self.running.url)
        self.fill_in(anna, "anna", word)
        self.choose_password(anna, PASSWORD)
        self.deed(self.root, "anna", "Sign out everywhere")
        expect(anna.get_by_test_id("login-note")).to_contain_text("You were signed out")

    def test_user_changes_the_own_password(self) -> None:
        second = self.enter(self.running)
        self.close_page(self.root)
        self.open_page(self.root, "Settings")
        self.root.get_by_test_id("change-password").click()
        self.root.get_by_label("Current password").fill(PASSWORD)
        self.root.get_by_label("New password at least 8 characters").fill("another word")
        self.root.get_by_label("Repeat new password").fill("another word")
        self.root.get_by_test_id("password-submit").click()
        expect(self.root.get_by_test_id("password-dialog")).to_have_count(0)
        expect(second.get_by_test_id("login")).to_be_visible()
        # This one goes on, with its stream: a change from elsewhere arrives.
        self.root.keyboard.press("Escape")
        self.shell(self.running, "told", password="another word")
        expect(self.root.get_by_role("tab", name="told")).to_be_visible()


class TokensPageTests(PerimeterCase):
    def setUp(self) -> None:
        super().setUp()
        self.running = self.people()
        self.root = self.enter(self.running)
        self.open_page(self.root, "Tokens")

    @pytest.mark.essential
    def test_token_is_limited_to_its_scopes(self) -> None:
        self.root.get_by_test_id("new-token").click()
        expect_focus(self.root.get_by_test_id("new-token-name"))
        self.root.keyboard.type("nightly")
        self.root.get_by_test_id("scope-git").check()
        self.root.get_by_test_id("new-token-create").click()
        expect_focus(self.root.get_by_test_id("secret"))
        bearer = {"Authorization": f"Bearer {self.shown_once(self.root)}"}
        row = self.root.get_by_test_id("token")
        expect(row).to_contain_text("never used")
        request = self.running.request
        self.assertEqual(200, request("GET", "/api/sessions", headers=bearer).status)
        self.assertEqual(403, request("POST", "/api/sessions", {}, headers=bearer).status)
        self.assertEqual(403, request("GET", "/api/admin/users", headers=bearer).status)
        self.assertEqual(403, request("GET", "/api/tokens", headers=bearer).status)

        self.close_page(self.root)
        self.open_page(self.root, "Tokens")
        expect(row).to_contain_text("last used just now")
        expect(row).to_contain_text("expires in 30 d")
        row.get_by_test_id("token-revoke").click()
        self.root.get_by_test_id("ask-agree").click()
        expect(row).to_have_count(0)
        self.assertEqual(401, request("GET", "/api/sessions", headers=bearer).status)

    def test_token_for_one_session_reaches_only_this_session(self) -> None:
        reached = self.shell(self.running, "reached")
        other = self.shell(self.running, "other")
        self.root.get_by_test_id("new-token").click()
        self.root.get_by_test_id("new-token-name").fill("one only")
        self.root.get_by_label("Only some sessions").check()
        expect(self.root.get_by_test_id("scope-settings")).to_have_count(0)
        self.root.get_by_test_id("new-token-create").click()
        expect(self.root.get_by_test_id("new-token-problem")).to_contain_text("one session")
        self.root.get_by_test_id("token-session-reached").check()
        self.root.get_by_test_id("token-lifetime").select_option("never")
        self.root.get_by_test_id("new-token-create").click()
        bearer = {"Authorization": f"Bearer {self.shown_once(self.root)}"}
        request = self.running.request
        self.assertEqual(200, request("GET", f"/api/sessions/{reached}", headers=bearer).status)
        self.assertEqual(404, request("GET", f"/api/sessions/{other}", headers=bearer).status)
        row = self.root.get_by_test_id("token")
        expect(row).to_contain_text("only reached")
        expect(row).to_contain_text("never expires")


class AuditPageTests(PerimeterCase):
    @pytest.mark.essential
    def test_audit_entries_are_newest_first_and_filtered_by_kind_and_user(self) -> None:
        daemon = self.people()
        root = self.enter(daemon)
        self.open_page(root, "Users")
        self.create_user(root, "anna")
        self.close_page(root)
        daemon.request("POST", "/api/login", {"username": "nobody", "password": "wrong"})
        self.open_page(root, "Audit log")
        entries = root.get_by_test_id("entry")
        expect(entries).to_have_count(3)
        expect(entries.first).to_have_attribute("data-action", "login.failed")
        root.get_by_test_id("audit-kind").select_option("users")
        expect(entries).to_have_count(1)
        expect(entries.first).to_contain_text("root created a user anna")
        root.get_by_test_id("audit-kind").select_option("")
        root.get_by_test_id("audit-actor").fill("root")
        expect(entries).to_have_count(2)
        root.get_by_test_id("audit-actor").fill("nobody else")
        expect(root.get_by_text("No entries match.")).to_be_visible()

    def test_audit_log_loads_older_pages_on_demand(self) -> None:
        daemon = self.people()
        root = self.enter(daemon)
        for number in range(60):
            # Equal entries would be added up.
            self.call(daemon, "POST", "/api/cases", {"name": f"n{number}"})
            self.call(daemon, "DELETE", f"/api/cases/n{number}")
        self.open_page(root, "Audit log")
        entries = root.get_by_test_id("entry")
        expect(entries).to_have_count(50)
        root.get_by_test_id("audit-more").click()
        expect(entries).not_to_have_count(50)
        expect(root.get_by_test_id("audit-more")).to_have_count(0)
        expect(entries.last).to_contain_text("signed in")
