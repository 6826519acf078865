"""The page's service worker: what other apps share, and answers in notifications."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from playwright.sync_api import Page, Worker, expect

from tests.browser.harness import BrowserCase, expect_focus, wait_until_on_page
from tests.browser.mock_service import MockService

AGENT = "hexadecimal floats"
SHARE = """([url, text]) => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", enctype: "multipart/form-data", action: url });
  const field = (tag, fields) => Object.assign(document.createElement(tag), fields);
  const add = (name, value) => form.append(field("textarea", { name, value }));
  add("title", "A bug");
  add("text", text);
  const files = new DataTransfer();
  for (const [name, type] of [["a picture.png", "image/png"], ["b.html", "text/html"]])
    files.items.add(new File([new Uint8Array(9)], name, { type }));
  const input = field("input", { type: "file", name: "files", multiple: true });
  input.files = files.files;
  form.append(input);
  document.body.append(form);
  form.submit();
}"""
SHOWN = """async () => (await self.registration.getNotifications())
  .map(({ body, actions, data }) =>
    ({ body, data, actions: actions.map((each) => each.action) }))"""
ASKED = "(id) => self.parts.asked(id).then((notice) => notice !== undefined)"
"""Whether the worker learns what a session asks; the switch for it shows before it is so."""
SEEN = """self.clients.matchAll({ type: "window", includeUncontrolled: true })
  .then((pages) => pages.length)"""
PRESS = """async (action) => {
  const [notification] = await self.registration.getNotifications();
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action }));
}"""


class WorkerTests(BrowserCase):
    mock: ClassVar[MockService]
    whole = True
    expected = (
        r"responded with a status of (4|5)\d\d",
        r"does not support the Push API in incognito mode",
    )

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.mock = MockService()
        cls.addClassCleanup(cls.mock.close)

    def open(self) -> tuple[Page, Worker]:
        """A page whose worker is at work, with notifications switched on."""
        page = self.page(f"{self.mock.url}/?page=settings", permissions=["notifications"])
        page.get_by_test_id("notify-here").check()
        expect(page.get_by_test_id("notify-answers")).to_be_enabled()
        page.evaluate("navigator.serviceWorker.ready.then((one) => one.scope)")
        wait_until_on_page(
            page, "control", lambda: page.evaluate("!!navigator.serviceWorker.controller")
        )
        [worker] = wait_until_on_page(page, "its worker", lambda: page.context.service_workers)
        return page, worker

    def test_shared_text_is_shown_before_it_becomes_a_prompt(self) -> None:
        page, _ = self.open()
        for text, ends in (("look at \x1b[31mthis", "shared-put"), ("no thanks", "shared-discard")):
            page.evaluate(SHARE, [f"{self.mock.url}/share", text])
            page.get_by_test_id("page-shared").wait_for()
            expect(page.get_by_test_id("shared-text")).to_contain_text(text.replace("\x1b", ""))
            expect(page.locator(".shared-pictures img")).to_have_count(1)
            page.get_by_test_id("shared-session").select_option(label=AGENT)
            page.get_by_test_id(ends).click()
            page.get_by_test_id("page-shared").wait_for(state="detached")
        field = page.locator("#prompt-field")
        expect(field).to_have_value("A bug\nlook at [31mthis")
        page.goto(f"{self.mock.url}/?page=shared")
        page.get_by_test_id("shared-none").wait_for()

    def push(self, page: Page, note: dict[str, Any]) -> None:
        """What a push service would bring."""
        browser = page.context.new_cdp_session(page)
        found: list[dict[str, Any]] = []
        browser.on(
            "ServiceWorker.workerRegistrationUpdated",
            lambda told: found.extend(told["registrations"]),
        )
        browser.send("ServiceWorker.enable")
        wait_until_on_page(page, "the registration", lambda: found)
        browser.send(
            "ServiceWorker.deliverPushMessage",
            {
                "origin": self.mock.url,
                "registrationId": found[-1]["registrationId"],
                "data": json.dumps(note),
            },
        )
        browser.detach()

    def test_press_on_a_question_leads_to_its_card(self) -> None:
        page, worker = self.open()
        waiting = self.mock.get("/api/approvals")["approvals"]
        cards = [each["sessionId"] for each in waiting if each["kind"] != "idle"]
        self.assertGreater(len(cards), 1)
        # The page would bring the oldest one to the front by itself.
        for session in reversed(cards[1:3]):
            page.goto("about:blank")
            wait_until_on_page(page, "no page", lambda: not worker.evaluate(SEEN))
            self.push(
                page,
                {"kind": "permission_prompt", "sessionId": session, "sessionName": "x"},
            )
            wait_until_on_page(page, "a notification", lambda: worker.evaluate(SHOWN))
            page.goto(f"{self.mock.url}/?page=settings")
            page.get_by_test_id("notify-answers").wait_for()
            worker.evaluate(PRESS, "")
            expect_focus(page.locator(f"[data-testid=approval][data-session='{session}']"))
            self.assertIn(f"session={session}", page.url)
            wait_until_on_page(page, "it gone", lambda: worker.evaluate(SHOWN) == [])
            # The address that a press opens where no page is open.
            page.goto(f"{self.mock.url}/?session={session}&page=approvals")
            expect_focus(page.locator(f"[data-testid=approval][data-session='{session}']"))

    def test_notification_offers_answers_only_when_enabled(self) -> None:
        """Off, it tells what happened alone; on, what is asked, with the answers to it."""
        page, worker = self.open()
        session = self.mock.session(AGENT)
        note = {"kind": "permission_prompt", "sessionId": session, "sessionName": AGENT}
        for answers in (False, True):
            page.goto(f"{self.mock.url}/?page=settings")
            page.get_by_test_id("notify-answers").set_checked(answers)
            expect(page.get_by_test_id("notify-answers")).to_be_checked(checked=answers)
            wait_until_on_page(
                page,
                "the worker told",
                lambda a=answers: worker.evaluate(ASKED, session) == a,  # type: ignore[misc]
            )
            # A page in sight tells by itself.
            page.goto("about:blank")
            wait_until_on_page(page, "no page", lambda: not worker.evaluate(SEEN))
            self.push(page, note)
            # The second takes the first one's place; Chromium may close a new one for an old one.
            [shown] = wait_until_on_page(
                page,
                "a notification",
                lambda a=answers: [  # type: ignore[misc]
                    each for each in worker.evaluate(SHOWN) if bool(each["actions"]) == a
                ],
            )
            if not answers:
                self.assertEqual("asks for permission", shown["body"])
        self.assertIn("wants to run", shown["body"])
        self.assertEqual(["option-1", "deny"], shown["actions"])
        waiting = {item["id"] for item in self.mock.get("/api/approvals")["approvals"]}
        self.assertIn(shown["data"]["approvalId"], waiting)
        worker.evaluate(PRESS, "option-1")
        wait_until_on_page(
            page,
            "the answer",
            lambda: (
                shown["data"]["approvalId"]
                not in {item["id"] for item in self.mock.get("/api/approvals")["approvals"]}
            ),
        )
        wait_until_on_page(page, "it gone", lambda: worker.evaluate(SHOWN) == [])
