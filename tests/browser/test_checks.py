"""Checks of a case: the form, the results on the fleet's rows, running and cancelling them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase
from tests.integration.harness import DaemonHarness

RED = {"name": "lint", "command": "echo 'src/a.py:1: unused'; exit 3", "timeoutSeconds": 60}
HANGS = {"name": "slow", "command": "echo begun; sleep 600", "timeoutSeconds": 600}

BROUGHT = """\
# Checks of this repository
checks:
  - name: tests
    command: echo 7 passed
    timeoutSeconds: 60
onFailure: send_back
maxAttempts: 2
"""


class CheckPageTests(BrowserCase):
    expected = (r"the server responded with a status of 400",)

    def setUp(self) -> None:
        super().setUp()
        self.service: DaemonHarness = self.daemon()
        made = self.service.request("POST", "/api/cases", {"name": "site"}).data()
        self.folder = Path(made["case"]["path"])
        self.session_id = self.session(self.service, "fixer", workingDir=str(self.folder))

    def save(self, *checks: dict[str, Any]) -> None:
        self.service.request("PUT", "/api/cases/site/checks", {"checks": [*checks]}).data()

    def run_checks(self) -> None:
        self.service.request("POST", f"/api/sessions/{self.session_id}/checks/run", {}).data()

    def open_form(self, **options: Any) -> Page:
        page = self.page(f"{self.service.url}/?session={self.session_id}&page=cases", **options)
        page.get_by_test_id("case-checks").locator("summary").click()
        return page

    @pytest.mark.essential
    def test_checks_are_saved_run_and_shown(self) -> None:
        page = self.open_form()
        page.get_by_test_id("check-add").click()
        page.get_by_test_id("check-name").fill("tests")
        page.get_by_test_id("check-command").fill("echo 214 passed")
        page.get_by_test_id("check-seconds").fill("0")
        page.get_by_test_id("check-save").click()
        expect(page.get_by_test_id("check-problem")).to_contain_text("tests: the time limit")
        page.get_by_test_id("check-seconds").fill("60")
        page.get_by_test_id("check-policy-send_back").check(force=True)
        page.get_by_test_id("check-save").click()
        expect(page.locator(".toast")).to_contain_text("Checks saved")
        saved = self.service.request("GET", "/api/cases/site/checks").data()
        self.assertEqual(("send_back", 3), (saved["onFailure"], saved["maxAttempts"]))
        self.run_checks()
        page.goto(f"{self.service.url}/?page=fleet")
        chips = page.get_by_test_id("check-chips")
        expect(chips).to_have_text("tests ✓ 214")
        chips.click()
        dialog = page.get_by_test_id("check-dialog")
        expect(dialog).to_contain_text("The checks are green.")
        self.save(RED)
        page.get_by_test_id("check-run").click()
        expect(dialog.get_by_test_id("check-result")).to_contain_text("exit status 3")
        expect(dialog).to_contain_text("src/a.py:1: unused")
        expect(chips).to_have_text("lint ✗")
        self.assertEqual([], faults_in_both(page))

    def test_hanging_check_is_cancelled_on_a_phone(self) -> None:
        self.save(HANGS)
        page = self.page(f"{self.service.url}/?page=fleet", **PHONE)
        self.run_checks()
        page.get_by_test_id("check-chips").click()
        expect(page.get_by_test_id("check-chips")).to_have_text("slow …")
        page.get_by_test_id("check-cancel").click()
        expect(page.get_by_test_id("check-result")).to_contain_text("cancelled")
        expect(page.get_by_test_id("check-run")).to_be_enabled()
        self.assertEqual([], faults_in_both(page))

    def test_form_on_a_phone_has_no_faults(self) -> None:
        self.save(RED)
        page = self.open_form(**PHONE)
        expect(page.get_by_test_id("check-name")).to_have_value("lint")
        self.assertEqual([], faults_in_both(page))
        page.get_by_test_id("check-remove").click()
        page.get_by_test_id("check-save").click()
        expect(page.locator(".toast")).to_contain_text("Checks saved")
        saved = self.service.request("GET", "/api/cases/site/checks").data()
        self.assertEqual([], saved["checks"])

    def test_repository_brings_checks_that_a_person_approves(self) -> None:
        file = self.folder / ".tservice.yaml"
        file.write_text(BROUGHT)
        page = self.open_form()
        brought = page.get_by_test_id("check-file")
        brought.locator("summary").click()
        expect(brought).to_contain_text("echo 7 passed")
        self.assertEqual([], faults_in_both(page))
        page.get_by_test_id("check-file-use").click()
        expect(brought).to_contain_text("The checks of this repository are used")
        self.run_checks()
        page.goto(f"{self.service.url}/?page=fleet")
        chips = page.get_by_test_id("check-chips")
        expect(chips).to_have_text("tests ✓ 7")
        file.write_text(BROUGHT.replace("7 passed", "8 passed; id"))
        self.run_checks()
        expect(chips).to_have_text("tests –")
        chips.click()
        dialog = page.get_by_test_id("check-dialog")
        expect(dialog).to_contain_text(".tservice.yaml was changed")
        expect(dialog.get_by_test_id("check-file-diff")).to_contain_text("8 passed; id")
        self.assertEqual([], faults_in_both(page))
        page.get_by_test_id("check-file-use").click()
        expect(dialog).to_contain_text("The checks of this repository are used")
        page.get_by_test_id("check-run").click()
        expect(chips).to_have_text("tests ✓ 8")
        page.get_by_test_id("check-file").locator("summary").click()
        page.get_by_test_id("check-file-drop").click()
        expect(page.get_by_test_id("check-run")).to_be_disabled()

    def test_changed_file_on_a_phone_has_no_faults(self) -> None:
        file = self.folder / ".tservice.yaml"
        file.write_text(BROUGHT)
        path = f"/api/sessions/{self.session_id}/checks/file"
        found = self.service.request("GET", path).data()
        self.service.request("PUT", path, {"hash": found["hash"]}).data()
        file.write_text(BROUGHT.replace("7 passed", "8 passed; id"))
        page = self.open_form(**PHONE)
        expect(page.get_by_test_id("check-file-diff")).to_contain_text("8 passed; id")
        self.assertEqual([], faults_in_both(page))
