"""Talking into the prompt box (protocol-voice), with a file for a microphone."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import faults_in_both
from tests.browser.harness import PHONE, BrowserCase, wait_until_on_page
from tests.browser.speech_service import RATE, SpeechService, audio_difference, write_sound
from tests.run_figures import report_figure

REPETITIONS = 20
"""How often dictation is repeated until Chromium plays its microphone's file without a gap."""

AGENT = "#!/bin/sh\nprintf '\\342\\235\\257\\302\\240'\nexec cat\n"
WATCH_MICROPHONE = """(() => {
  window.microphones = [];
  const { mediaDevices } = navigator;
  const open = mediaDevices.getUserMedia.bind(mediaDevices);
  mediaDevices.getUserMedia = async (wanted) => {
    const stream = await open(wanted);
    window.microphones.push(...stream.getTracks());
    return stream;
  };
})();"""
AT_RATE = """window.AudioContext = class extends AudioContext {
  constructor() { super({ sampleRate: %d }); window.rate = this.sampleRate; }
};"""
RECOGNITION = """window.webkitSpeechRecognition = window.SpeechRecognition = class {
  start() { window.recognition = this; }
  stop() { this.onend(); }
  abort() { this.onend(); }
};"""
SAYS = """([text, isFinal]) => {
  window.recognition.onresult({ results: [Object.assign([{ transcript: text }], { isFinal })] });
}"""


class VoiceCase(BrowserCase):
    whole = True

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        sound = Path(folder.name) / "sound.wav"
        write_sound(sound)
        cls.arguments = (
            "--use-fake-device-for-media-stream",
            f"--use-file-for-fake-audio-capture={sound}",
        )
        super().setUpClass()

    def setUp(self) -> None:
        super().setUp()
        self.speech = SpeechService()
        self.addCleanup(self.speech.close)
        self.service = self.daemon(SERVICE_VOICE_STREAM_BASE=self.speech.url)
        agent = self.service.home / ".local" / "bin" / "claude"
        agent.parent.mkdir(parents=True)
        agent.write_text(AGENT)
        agent.chmod(0o755)
        self.set({"primaryVoiceEnabled": True, "voiceSettings": {"keyterms": ["tmux"]}})
        self.agent = self.session(self.service, "the parser", mode="primary")

    def sign(self, expires: int = 4_000_000_000_000) -> None:
        file = self.service.home / ".claude" / ".credentials.json"
        file.parent.mkdir(exist_ok=True)
        found = {"accessToken": "sk-ant-oat", "expiresAt": expires, "subscriptionType": "max"}
        file.write_text(json.dumps({"claudeAiOauth": found}))

    def set(self, settings: dict[str, Any]) -> None:
        self.service.request("PUT", "/api/settings", settings).data()

    def shown(self, *scripts: str, **options: Any) -> Page:
        context = self.context(permissions=["microphone"], **options)
        for script in (WATCH_MICROPHONE, *scripts):
            context.add_init_script(script)
        page = self.page(f"{self.service.url}/?session={self.agent}", context)
        expect(page.get_by_test_id("mic")).to_be_visible()
        return page

    def shot(self, page: Page, name: str) -> None:
        """For eyes, where a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            page.screenshot(path=f"{folder}/voice-{name}.png")

    def released(self, page: Page) -> None:
        """Every microphone that was opened is let go."""
        wait_until_on_page(
            page,
            "the microphone let go",
            lambda: page.evaluate("microphones.every(each => each.readyState === 'ended')"),
        )
        self.assertGreater(page.evaluate("microphones.length"), 0)


class DictationTests(VoiceCase):
    def dictate(self, page: Page) -> None:
        """Tap, two seconds and a bit."""
        # Of the one before nothing counts, also until the next line is opened.
        self.speech.sound.clear()
        page.get_by_test_id("mic").click()
        wait_until_on_page(page, "sound", lambda: len(self.speech.heard) > 2 * RATE * 2.2)
        expect(page.get_by_test_id("prompt-field")).to_have_value(re.compile(r"heard \d+"))

    def is_same(self, label: str) -> bool:
        """Whether what arrived is what the microphone's file holds, sample by sample."""
        # Chromium fades in.
        begin = round(0.3 * RATE)
        heard = self.speech.heard[2 * begin : 2 * (begin + round(1.7 * RATE))]
        worst, quieter = audio_difference(heard)
        report_figure(
            f"{label}: worst sample {worst:.5f} of full scale, noise {quieter:.1f} dB below"
        )
        return worst < 0.01 and quieter > 50

    def test_dictated_text_is_inserted_and_interim_text_shown(self) -> None:
        self.sign()
        page = self.shown()
        field = page.get_by_test_id("prompt-field")
        field.fill("please , thanks")
        field.evaluate("each => each.setSelectionRange(7, 7)")
        self.dictate(page)
        expect(page.get_by_test_id("mic")).to_have_attribute("data-stage", "listening")
        self.shot(page, "listening")
        self.assertEqual([], faults_in_both(page))
        page.get_by_test_id("mic").click()
        expect(field).to_have_value("please run the tests, thanks")
        self.released(page)
        path, headers = self.speech.asked[0]
        self.assertIn("keyterm=tmux", path)
        self.assertEqual("Bearer sk-ant-oat", headers["Authorization"])
        field.fill("edited")
        expect(field).to_have_value("edited")
        screen = self.service.request("GET", f"/api/sessions/{self.agent}/terminal").data()
        self.assertNotIn("run the tests", screen["terminalBuffer"])

        # Held as long as one talks; with Escape nothing is waited for.
        mic = page.get_by_test_id("mic")
        field.fill("")
        mic.hover()
        page.mouse.down()
        # Longer than a tap.
        expect(field).to_have_value(re.compile(r"heard ([6-9]|\d\d)"))
        page.mouse.up()
        expect(field).to_have_value("run the tests")
        self.released(page)
        mic.press("Enter")
        expect(mic).to_have_attribute("data-stage", "listening")
        mic.press("Escape")
        expect(mic).to_have_attribute("data-stage", "idle")
        self.released(page)

    def test_recorded_audio_arrives_as_the_microphone_captured_it(self) -> None:
        """On a busy machine Chromium's own clock of sound may skip: then it is said again."""
        self.sign()
        for rate in (44_100, 48_000):
            page = self.shown(AT_RATE % rate)
            for _ in range(REPETITIONS):
                self.dictate(page)
                self.assertEqual(rate, page.evaluate("rate"))
                page.get_by_test_id("mic").click()
                field = page.get_by_test_id("prompt-field")
                expect(field).to_have_value("run the tests")
                field.fill("")
                self.released(page)
                if self.is_same(f"at {rate} Hz"):
                    break
            else:
                self.fail(f"never the same, at {rate} Hz")
            self.leave(page)


class OtherwiseTests(VoiceCase):
    """Where the service has no speech service."""

    expected = (r"the server responded with a status of 400",)

    def test_refused_voice_setting_stays_in_its_field(self) -> None:
        page = self.shown()
        page.goto(f"{self.service.url}/?page=settings")
        language = page.get_by_test_id("voice-language")
        language.fill("not a language!")
        language.press("Enter")
        expect(page.get_by_test_id("mark-voiceSettings")).to_have_attribute("data-state", "refused")
        expect(language).to_have_value("not a language!")
        language.fill("de-CH")
        language.press("Enter")
        expect(page.get_by_test_id("mark-voiceSettings")).to_contain_text("Saved")
        expect(language).to_have_value("de-CH")

    @pytest.mark.essential
    def test_browser_recognition_is_used_and_voice_can_be_switched_off(self) -> None:
        page = self.shown(RECOGNITION, **PHONE)
        mic, field = page.get_by_test_id("mic"), page.get_by_test_id("prompt-field")
        mic.tap()
        expect(mic).to_have_attribute("data-stage", "listening")
        page.evaluate(SAYS, ["run the", False])
        expect(field).to_have_value("run the")
        page.evaluate(SAYS, ["run the tests", True])
        self.shot(page, "phone")
        mic.tap()
        expect(mic).to_have_attribute("data-stage", "idle")
        expect(field).to_have_value("run the tests")
        self.assertEqual([], self.speech.asked)
        self.assertEqual([], page.evaluate("microphones"))

        self.sign(expires=1)
        # Its title tells when the page has the settings.
        self.set({"voiceSettings": {"provider": "primary"}, "displayName": "by the service"})
        wait_until_on_page(page, "the settings", lambda: "by the service" in page.title())
        mic.tap()
        expect(page.get_by_text("has expired")).to_be_visible()
        expect(mic).to_have_attribute("data-stage", "idle")
        self.set({"primaryVoiceEnabled": False})
        expect(mic).to_have_count(0)
