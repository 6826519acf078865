"""The inbox, the prompt box and the chips on the real daemon, with a played agent, in Chromium."""

from __future__ import annotations

import os
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.agents.mock_tui.scenario import MockScenario
from tests.browser.harness import (
    PATIENCE,
    PageTerminal,
    expect_focus,
    is_uncovered,
    wait_until_on_page,
)
from tests.browser.live_agents import PHONE, THUMB, LiveCase
from tests.integration.agents.harness import PlayedSession


class LiveInboxTests(LiveCase):
    @pytest.mark.essential
    def test_permission_is_answered_by_mouse(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        item = agent.item()
        self.assertEqual(agent.options(), [option["label"] for option in item["options"]])
        page = self.shown(agent)
        wait_until_on_page(page, "a count in the title", lambda: page.title().startswith("(1) "))
        card = self.card(page, agent)
        expect(card).to_contain_text("touch made")
        expect(card).to_contain_text("Do you want to proceed?")
        self.offers(card, item)
        card.get_by_test_id("approval-option-1").click()
        expect(card).to_have_count(0)
        agent.until("the file", agent.made("made").exists)
        wait_until_on_page(page, "no count in the title", lambda: not page.title().startswith("("))

    def test_permission_is_answered_by_thumb_on_a_phone(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        item = agent.item()
        card = self.card(self.shown(agent, **PHONE), agent)
        self.offers(card, item)
        for button in card.locator(".choice-button").all():
            box = button.bounding_box()
            assert box is not None
            self.assertGreaterEqual(box["height"], THUMB)
            self.assertLessEqual(box["x"] + box["width"], 390)
        card.get_by_test_id("approval-option-3").tap()
        expect(card).to_have_count(0)
        agent.rests()
        self.assertFalse(agent.made("made").exists())

    def test_no_with_a_reason_is_written_by_keys_and_by_thumb(self) -> None:
        agent = self.agent()
        for options, reason in (({}, "use mkdir instead"), (PHONE, "by no means")):
            agent.prompt("RUN: touch made", wait="blocked")
            agent.item()
            page = self.shown(agent, **options)
            card = self.card(page, agent)
            opener = card.get_by_test_id("approval-why")
            field = card.get_by_test_id("approval-reason")
            if options:
                opener.scroll_into_view_if_needed()
                box = opener.bounding_box()
                assert box is not None
                self.assertGreaterEqual(box["height"], THUMB)
                opener.tap()
                field.fill(reason)
                self.keep_picture(page, "reason-phone")
                with page.expect_request("**/answer") as sent:
                    card.get_by_test_id("approval-reason-send").tap()
            else:
                opener.focus()
                page.keyboard.press("w")
                expect_focus(field)
                page.keyboard.press("Escape")
                expect_focus(opener)
                page.keyboard.press("w")
                page.keyboard.type(reason)
                self.keep_picture(page, "reason-desk")
                with page.expect_request("**/answer") as sent:
                    page.keyboard.press("Control+Enter")
            told: dict[str, Any] = sent.value.post_data_json or {}
            self.assertEqual(("deny", reason), (told.get("action"), told.get("reason")))
            expect(card).to_have_count(0)
            agent.rests()
            self.assertFalse(agent.made("made").exists())

    def keep_picture(self, page: Page, name: str) -> None:
        if folder := os.environ.get("APPROVAL_PICTURES"):
            page.screenshot(path=f"{folder}/{name}.png")

    def test_long_command_of_an_approval_is_whole_and_scrolls(self) -> None:
        """Its end can be read before it is agreed to, and says what may be grave."""
        agent = self.agent()
        command = f"touch {'a' * 900}; rm -rf ./build"
        agent.prompt(f"RUN: {command}", wait="blocked")
        self.assertEqual(command, agent.item().get("toolSummary"))
        card = self.card(self.shown(agent, **PHONE), agent)
        shown = card.locator(".approval-tool .command")
        expect(shown).to_have_text(command)
        self.assertTrue(shown.evaluate("each => each.scrollHeight > each.clientHeight"))
        shown.evaluate("each => each.scrollTo(0, each.scrollHeight)")
        self.assertGreater(shown.evaluate("each => each.scrollTop"), 0)
        expect(card.get_by_test_id("approval-risk")).to_have_text("Hint: Deletes files for good")

    def test_multiple_choice_question_is_answered_with_ticks(self) -> None:
        agent = self.agent()
        agent.prompt("ASKM:", wait="blocked")
        agent.item()
        card = self.card(self.shown(agent), agent)
        expect(card).to_contain_text("Which checks should run before a commit?")
        expect(card).to_contain_text("The type checker")
        for number in (1, 3):
            card.get_by_test_id(f"approval-check-{number}").check()
        card.get_by_test_id("approval-send-options").click()
        expect(card).to_have_count(0)
        agent.until("the answer", lambda: "→ Types, Unit tests" in agent.screen())
        agent.rests()

    def test_question_shows_the_descriptions_of_its_options(self) -> None:
        agent = self.agent()
        agent.prompt("ASK:", wait="blocked")
        item = agent.item()
        card = self.card(self.shown(agent), agent)
        # Own words have their field, and Skip is the one way past the question.
        other = ("Type something", "Chat about this")
        listed = [each for each in item["options"] if not each["label"].startswith(other)]
        self.assertLess(len(listed), len(item["options"]))
        expect(card.locator("kbd")).to_have_text(["E", *(str(each["n"]) for each in listed)])
        expect(card.get_by_test_id("approval-option-1")).to_contain_text(
            "No change for the clients"
        )
        # What the card says in its own words it does not show a second time.
        expect(card.get_by_test_id("approval-context")).to_be_hidden()
        field = card.get_by_test_id("approval-text")
        field.fill("port 7")
        card.get_by_test_id("approval-text-send").click()
        expect(card).to_have_count(0)
        agent.until("the answer", lambda: "port 7" in agent.screen())
        agent.rests()

    def test_approval_answered_in_the_terminal_leaves_the_page(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        page = self.shown(agent)
        card = self.card(page, agent)
        agent.call("POST", f"{agent.path}/send-key", key="Escape")
        expect(card).to_have_count(0)
        expect(page.get_by_test_id("approvals-count")).to_have_count(0)


class FirstDialogTests(LiveCase):
    """What Codex and Gemini CLI ask before the first prompt."""

    def starts(self, mode: str, label: str) -> None:
        agent = PlayedSession(self.running, mode, MockScenario())
        self.addCleanup(agent.end)
        page = self.shown(agent)
        expect(page.get_by_test_id("ask-notice")).to_contain_text("asks whether to trust")
        page.get_by_test_id("prompt-field").fill("SAY: hello")
        page.get_by_test_id("prompt-field").press("Enter")
        outcome = page.get_by_test_id("prompt-outcome")
        expect(outcome).to_contain_text("Sends after your answer.")
        outcome.get_by_test_id("prompt-answer").click()
        card = page.get_by_test_id("approval")
        option = card.get_by_test_id("approval-option-1")
        expect(option).to_contain_text(label)
        expect(option).to_have_attribute("data-leaning", "other")
        option.click()
        expect(outcome).to_contain_text("Delivered")
        agent.until("the turn", lambda: [turn.prompt for turn in agent.turns()] == ["SAY: hello"])

    def test_trust_of_codex_is_answered_by_a_button_and_the_prompt_goes_after_it(self) -> None:
        self.starts("codex", "Trust and continue")

    def test_trust_of_gemini_is_answered_by_a_button_and_the_prompt_goes_after_it(self) -> None:
        self.starts("gemini", "Trust folder")


SESSION_IN_FOCUS = "() => document.activeElement.dataset.session"


class FrontTests(LiveCase):
    """The inbox opens at the item of the session in front."""

    def two(self) -> tuple[PlayedSession, PlayedSession]:
        """Two sessions that ask, the older one first."""
        agents = self.agent(name="web-shop"), self.agent(name="old pages")
        for agent in agents:
            agent.prompt("RUN: touch made", wait="blocked")
            agent.item()
        return agents

    def in_focus(self, page: Page, agent: PlayedSession) -> None:
        wait_until_on_page(page, "its card", lambda: page.evaluate(SESSION_IN_FOCUS) == agent.id)
        card = page.locator(f"[data-testid=approval][data-session='{agent.id}']")
        self.assertTrue(is_uncovered(card.get_by_test_id("approval-visit")))

    def test_answer_from_a_notice_reaches_its_own_session(self) -> None:
        older, newer = self.two()
        page = self.shown(newer, viewport={"width": 820, "height": 560})
        page.get_by_test_id("ask-notice").get_by_role("button", name="Answer").click()
        self.in_focus(page, newer)
        page.keyboard.press("1")
        newer.until("the file", newer.made("made").exists)
        self.assertFalse(older.made("made").exists())

    def test_keyboard_and_bell_open_the_approval_of_the_front_session(self) -> None:
        older, newer = self.two()
        page = self.shown(newer)
        page.keyboard.press("Alt+Shift+A")
        self.in_focus(page, newer)
        # The panel stays open, and is asked for from another session.
        page.keyboard.press("Alt+Shift+T")
        page.get_by_text("web-shop").first.click()
        page.keyboard.press("Alt+Shift+A")
        self.in_focus(page, older)
        PageTerminal(page).element.click()
        page.get_by_test_id("approvals-bell").click()
        self.in_focus(page, older)

    def test_new_approval_takes_no_focus_from_the_terminal(self) -> None:
        older, _ = self.two()
        page = self.shown(older)
        page.keyboard.press("Alt+Shift+A")
        self.in_focus(page, older)
        PageTerminal(page).ready().focus()
        third = self.agent()
        third.prompt("RUN: touch made", wait="blocked")
        expect(page.get_by_test_id("approval")).to_have_count(3)
        self.assertTrue(page.evaluate("() => !!document.activeElement.closest('.terminal-host')"))


class ResizeTests(LiveCase):
    """A smaller viewer takes the size of a terminal whose agent asks."""

    def test_resized_permission_keeps_its_command_and_colour(self) -> None:
        agent = self.agent(cols=120, rows=40)
        agent.prompt("RUN: rm -rf ./build", wait="blocked")
        agent.item()
        before = agent.until(
            "the tool", lambda: agent.items()[0].get("toolName") and agent.items()[0]
        )
        desk = self.shown(agent)
        desk.get_by_test_id("approvals-bell").click()
        phone = self.terminal(f"{self.running.url}/?session={agent.id}", **PHONE)
        phone.page.get_by_test_id("view-switch").tap()
        for viewer in (phone, PageTerminal(desk)) * 3:
            self.fits(agent, viewer)
            for _ in range(3):
                self.assertEqual(self.kept(before), self.kept(agent.items()[0]))
        card = desk.get_by_test_id("approval")
        expect(card).to_contain_text("rm -rf ./build")
        expect(card.get_by_test_id("approval-risk")).to_have_text("Hint: Deletes files for good")
        yes = card.get_by_test_id("approval-option-1")
        expect(yes).to_have_attribute("data-grave", "true")
        # Answered while the terminal has the phone's size.
        self.fits(agent, phone)
        agent.until("an answer", lambda: self.denied(agent))
        agent.rests()

    def denied(self, agent: PlayedSession) -> bool:
        """Deny what is asked; not while the dialog is drawn anew for the phone."""
        (now,) = agent.items()
        body = {"action": "deny", "expectFrame": now["frame"]}
        answer = self.running.request("POST", f"/api/approvals/{now['id']}/answer", body)
        self.assertIn(answer.status, (200, 409), answer.body)
        return answer.status == 200

    def fits(self, agent: PlayedSession, viewer: PageTerminal) -> None:
        """The terminal takes this viewer's size."""
        was = agent.record()["cols"]
        pill = viewer.page.get_by_test_id("foreign-size")
        pill.tap() if viewer.page.viewport_size == PHONE["viewport"] else pill.click()
        agent.until("another size", lambda: agent.record()["cols"] != was)

    def kept(self, item: dict[str, Any]) -> dict[str, Any]:
        names = ("id", "kind", "createdAt", "toolName", "toolSummary")
        return {name: item.get(name) for name in names}


class StandingTests(LiveCase):
    def test_reason_of_a_status_is_shown_on_hover(self) -> None:
        agent = self.agent()
        page = self.shown(agent)
        dot, tip = page.locator("[data-testid=status]:visible").first, page.get_by_test_id("tip")
        for prompt, signal in (("HOLD: door", "working"), ("RUN: touch made", "blocked")):
            agent.prompt(prompt, wait=signal)
            reason = "working" if signal == "working" else "wants to run"
            page.mouse.move(640, 700)
            wait_until_on_page(
                page, f"a look for {signal}", lambda: dot.get_attribute("data-state") != "idle"
            )
            dot.hover()
            expect(tip).to_be_visible()
            expect(tip).to_contain_text(reason)
            expect(tip).not_to_contain_text("hook")
            agent.release("door")
            if signal == "working":
                agent.rests()
                # It goes on telling the truth under a pointer that rests.
                expect(tip).to_contain_text("ready")

    def test_usage_of_the_plan_is_shown(self) -> None:
        page = self.shown(self.agent())
        five, week = page.get_by_test_id("plan-5h"), page.get_by_test_id("plan-7d")
        for used, level in ((0.85, "amber"), (0.96, "red")):
            limits = {"five_hour": used, "seven_day": 0.2}
            token = {"CLAUDE_CODE_OAUTH_TOKEN": "stub"}
            agent = self.agent(MockScenario(trust=False, limits=limits), envOverrides=token)
            agent.prompt("SAY: spent", wait="stop")
            expect(five).to_have_attribute("data-level", level)
            expect(five).to_contain_text(f"{used:.0%}")
            expect(week).not_to_have_attribute("data-level", level)


class LivePromptTests(LiveCase):
    def open(self, agent: PlayedSession, context: BrowserContext | None = None) -> None:
        self.front = self.shown(agent, context=context)
        self.field = self.front.get_by_test_id("prompt-field")
        self.outcome = self.front.get_by_test_id("prompt-outcome")

    def sent(self, agent: PlayedSession) -> list[str]:
        return [turn.prompt for turn in agent.turns()]

    def test_prompt_is_delivered_and_the_field_cleared(self) -> None:
        agent = self.agent()
        self.open(agent)
        self.field.fill("first\nSAY: second")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("Delivered")
        expect(self.field).to_have_value("")
        agent.until("the turn", lambda: self.sent(agent) == ["first\nSAY: second"])

    def touch(self, page: Page, element: Locator) -> None:
        """One finger on its middle, down and up, and nothing waited for in between."""
        box = element.bounding_box()
        assert box is not None
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def test_first_tap_on_send_sends_the_prompt_on_a_phone(self) -> None:
        agent = self.agent()
        page = self.shown(agent, **PHONE)
        field, keys = page.get_by_test_id("prompt-field"), page.get_by_test_id("keybar")
        expect(keys).to_be_visible()
        for prompt in ("SAY: one", "SAY: two"):
            self.touch(page, field)
            expect_focus(field)
            expect(keys).to_be_hidden()
            page.keyboard.type(prompt)
            self.touch(page, page.get_by_test_id("prompt-send"))
            expect(page.get_by_test_id("prompt-outcome")).to_contain_text("Delivered")
            expect(field).to_have_value("")
            expect_focus(field)
        agent.until("the turns", lambda: self.sent(agent) == ["SAY: one", "SAY: two"])
        agent.rests()

    def test_first_tap_outside_the_field_hides_the_keyboard(self) -> None:
        agent = self.agent()
        page = self.shown(agent, **PHONE)
        field, keys = page.get_by_test_id("prompt-field"), page.get_by_test_id("keybar")
        self.touch(page, field)
        expect(keys).to_be_hidden()
        with page.expect_file_chooser():
            self.touch(page, page.get_by_test_id("prompt-attach"))
        self.touch(page, page.get_by_test_id("current"))
        page.get_by_test_id("drawer").wait_for()
        page.keyboard.press("Escape")
        expect(keys).to_be_visible()

    def test_prompt_is_held_by_a_startup_dialog(self) -> None:
        agent = self.agent(MockScenario(trust=False, servers=("forms",)))
        agent.reason("mcp dialog: ")
        self.open(agent)
        self.field.fill("SAY: at last")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("Sends after your answer")
        self.assertEqual([], self.sent(agent))
        self.outcome.get_by_test_id("prompt-answer").click()
        card = self.front.get_by_test_id("approval")
        expect(card).to_contain_text("asks about new MCP servers")
        card.get_by_test_id("approval-option-1").click()
        expect(self.outcome).to_contain_text("Delivered")
        agent.until("the turn", lambda: self.sent(agent) == ["SAY: at last"])

    def test_refused_prompt_goes_after_the_answer(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        self.open(agent)
        self.field.fill("SAY: afterwards")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("Waiting for your answer first.")
        self.outcome.get_by_test_id("prompt-after").click()
        expect(self.outcome).to_contain_text("Sends after your answer.")
        self.assertNotIn("SAY: afterwards", self.sent(agent))
        self.outcome.get_by_test_id("prompt-answer").click()
        self.front.get_by_test_id("approval").get_by_test_id("approval-option-1").click()
        expect(self.outcome).to_contain_text("Delivered")
        expect(self.field).to_have_value("")
        agent.until("the turn", lambda: "SAY: afterwards" in self.sent(agent))
        agent.rests()

    def test_prompt_with_a_lost_response_is_typed_once_for_a_live_agent(self) -> None:
        agent = self.agent()
        lost: list[int] = []

        def lose(route: Route) -> None:
            lost.append(route.fetch(timeout=PATIENCE * 1000).status)
            route.abort()

        context = self.context()
        # Before there is a page: nothing of it is under way then, its service worker neither.
        context.route("**/input", lose, times=1)
        self.open(agent, context)
        self.field.fill("SAY: once")
        self.field.press("Enter")
        wait_until_on_page(self.front, "the loss of the answer", lambda: lost == [200])
        expect(self.outcome).to_contain_text("won't be typed twice")
        self.field.press("Enter")
        expect(self.outcome).to_contain_text("wasn't typed twice")
        agent.until("the turn", lambda: self.sent(agent))
        agent.rests()
        self.assertEqual(["SAY: once"], self.sent(agent))


class LiveFleetTests(LiveCase):
    def test_fleet_card_shows_the_question_and_takes_an_answer(self) -> None:
        agent = self.agent()
        agent.prompt("RUN: touch made", wait="blocked")
        agent.item()
        page = self.shown(agent)
        page.keyboard.press("Alt+Shift+F")
        card = page.get_by_test_id("fleet-card").first
        expect(page.get_by_test_id("fleet-sum")).to_contain_text("1 needs you")
        expect(card.get_by_test_id("fleet-question")).to_contain_text("touch made")
        card.get_by_test_id("approval-option-1").click()
        agent.until("the file", agent.made("made").exists)
        expect(card.get_by_test_id("fleet-question")).to_have_count(0)
        page.get_by_test_id("fleet-visit").click()
        expect(page.get_by_test_id("page-fleet")).to_have_count(0)
