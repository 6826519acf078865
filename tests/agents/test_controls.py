"""The real CLIs over HTTP: told model, effort and permission mode; answered in the inbox."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable
from tests.agents.contract_harness import skip_reason
from tests.stress import approvals
from tests.stress.harness import StressHarness, serve_cli
from tests.waiting import wait_until

FIRST = 300.0
"""Seconds for the first turn, and for what waits until it is over."""
UNSEEN = re.compile("the agent did not (leave|take)")
"""What is said of an agent that took longer over it than a service looks that holds a request."""
DIALOGS = int(os.environ.get("STRESS_APPROVALS", "4"))


@pytest.mark.long(minutes=3)
class AgentControlsLiveTests(SynchronousTestCase):
    """One session, at rest."""

    def begin(self, cli: str) -> None:
        held = ExitStack()
        self.addCleanup(held.close)
        self.place: StressHarness = available(cli, lambda: held.enter_context(serve_cli(cli)))
        self.path = f"/api/sessions/{self.place.session()}"
        ready = f"{self.path}/wait?until=idle&timeout=60000"
        self.place.call("GET", ready)
        # A turn may be over at the stub before the session is seen to work at all, so the wait
        # tells its end; opencode takes more than one wait's time over its first on a busy machine.
        first = {"input": "SAY: ready\r", "wait": "idle", "waitTimeout": 60_000}
        self.place.daemon.request("POST", f"{self.path}/input", first, patience=FIRST).data()
        wait_until("the end of the turn", self.rests, patience=FIRST)

    def rests(self) -> bool:
        turns = self.place.world.stub.turns()
        over = bool(turns) and all(each.ended is not None for each in turns)
        return over and self.record()["status"] == "idle"

    def prompt(self, text: str, **how: Any) -> Any:
        body = {"input": f"{text}\r", "wait": "idle", "waitTimeout": 60_000, **how}
        return self.place.call("POST", f"{self.path}/input", **body)

    def put(self, name: str, **body: str) -> tuple[int, Any]:
        # It is held until the agent rests, as a prompt is.
        answer = self.place.daemon.request("PUT", f"{self.path}/{name}", body, patience=FIRST)
        found = answer.json()
        return answer.status, found["data"] if answer.status == 200 else found["error"]

    def tell(self, name: str, **body: str) -> Any:
        """What the agent shows of it then; told again where it takes longer to show it than the
        service looks.
        """
        answers: list[tuple[int, Any]] = []

        def known() -> bool:
            answers.append(self.put(name, **body))
            status, said = answers[-1]
            # The turn before may still be on the screen of a busy machine.
            is_late = status == 409 or UNSEEN.search(str(said))
            return status == 200 or not is_late

        wait_until(f"{name} to be shown", known, patience=FIRST, told=lambda: answers)
        self.assertEqual(200, answers[-1][0], answers)
        return answers[-1][1]

    def refused(self, status: int, name: str, **body: str) -> None:
        self.assertEqual(status, self.put(name, **body)[0])

    def record(self) -> Any:
        return self.place.call("GET", self.path)

    def test_claude_permission_mode_model_and_effort_are_set(self) -> None:
        self.begin("claude")
        for mode in ("plan", "auto", "acceptEdits", "default", "default"):
            told = self.tell("permission-mode", permissionMode=mode)
            self.assertEqual({"permissionMode": mode}, told)
        # It was not started so that it could.
        self.refused(422, "permission-mode", permissionMode="bypassPermissions")
        self.assertEqual({"model": "Sonnet 5"}, self.tell("model", model="sonnet"))
        self.assertEqual("Sonnet 5", self.record()["displayModel"])
        self.assertEqual({"effort": "low"}, self.tell("effort", effort="low"))
        self.refused(400, "effort", effort="frantic")
        self.prompt("HOLD: one", wait="working")
        self.refused(409, "model", model="opus")
        self.place.world.stub.release("one")
        wait_until("the end of the turn", lambda: self.record()["status"] == "idle")
        self.place.call("POST", f"{self.path}/input", input="half a thought", useMux=False)
        # What is typed before it is drawn would be taken for a part of it.
        wait_until("the draft", lambda: "half a thought" in self.screen())
        self.refused(409, "effort", effort="high")

    def test_gemini_permission_mode_and_model_are_set(self) -> None:
        self.begin("gemini")
        for mode in ("plan", "default", "auto_edit"):
            told = self.tell("permission-mode", permissionMode=mode)
            self.assertEqual({"permissionMode": mode}, told)
        told = self.tell("model", model="gemini-2.5-flash")
        self.assertEqual({"model": "gemini-2.5-flash"}, told)
        self.refused(400, "effort", effort="low")

    def test_pi_model_is_set(self) -> None:
        self.begin("pi")
        self.assertEqual({"model": "stub-model"}, self.tell("model", model="stub-model"))
        self.refused(422, "model", model="nonsense")
        self.prompt("SAY: still here")
        self.assertIn("SAY: still here", self.place.world.stub.conversation())

    def test_codex_permission_mode_and_effort_are_set(self) -> None:
        self.begin("codex")
        for mode in ("plan", "default"):
            told = self.tell("permission-mode", permissionMode=mode)
            self.assertEqual({"permissionMode": mode}, told)
        self.refused(400, "model", model="other")
        # It knows no levels of the stub's model.
        self.refused(422, "effort", effort="high")
        # No turn: while its picker is open no wait for rest ends.
        self.place.call("POST", f"{self.path}/input", input="/model\r")
        wait_until("the picker", lambda: "Select Model" in self.screen())
        self.place.call("POST", f"{self.path}/send-key", key="Enter")
        wait_until("the page of levels", lambda: "Select Reasoning" in self.screen())
        # For this session only.
        self.place.call("POST", f"{self.path}/input", input="s", useMux=False)
        wait_until("its end", lambda: "Select Reasoning" not in self.screen())
        for effort in ("high", "low", "medium"):
            self.assertEqual({"effort": effort}, self.tell("effort", effort=effort))

    def screen(self) -> str:
        return str(self.place.call("GET", f"{self.path}/terminal")["terminalBuffer"])


@pytest.mark.long(minutes=2)
class ApprovalDialogLiveTests(SynchronousTestCase):
    """The short seeded form of C{python -m tests.stress.approvals}."""

    def play(self, cli: str) -> None:
        found = available(cli, lambda: approvals.run(cli, DIALOGS, 11))
        self.assertEqual(([], []), (found.wrong, found.unanswered), found.summary())
        self.assertEqual(DIALOGS, found.asked)

    def test_codex_approval_dialogs_are_answered(self) -> None:
        self.play("codex")

    def test_gemini_approval_dialogs_are_answered(self) -> None:
        self.play("gemini")

    def test_opencode_approval_dialogs_are_answered(self) -> None:
        self.play("opencode")


def available(cli: str, make: Callable[[], Any]) -> Any:
    """What C{make} makes, where the CLI can be had."""
    try:
        return make()
    except CliUnavailable as why:
        reason = skip_reason(why, cli)
        raise SkipTest(reason) if reason else why from why
