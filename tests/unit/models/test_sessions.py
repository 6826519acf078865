"""Sessions that use a model of a custom endpoint."""

from __future__ import annotations

import errno
import json
import shutil
from pathlib import Path
from typing import Any
from unittest import mock

from tests.unit.models.harness import KEY, URL, ModelCase
from tests.unit.sessions.harness import ADMIN
from tservice.core.callers.identity import Identity
from tservice.models import injection_folders
from tservice.models.injection_store import PAUSES
from tservice.sessions.interfaces import SessionLocationKind, SessionStatus


class SessionsCase(ModelCase):
    """An endpoint with three models."""

    def setUp(self) -> None:
        super().setUp()
        self.server.offers(big=200_000, small=8_000, untold=None)
        self.endpoint_id = self.endpoint()["id"]
        self.api.request("POST", f"/api/model-endpoints/{self.endpoint_id}/discover-models")

    def begun(self, model: str = "big", **fields: Any) -> Any:
        return self.make(endpointId=self.endpoint_id, modelId=model, **fields).data["session"]

    def change(self, session: Any, **body: Any) -> Any:
        return self.api.post(f"/api/sessions/{session['id']}/custom-model", body)

    def spec(self, session: Any) -> Any:
        return self.host.panes[session["id"]].spec

    def folder(self, session: Any) -> Path:
        return self.machine.config.data_dir / injection_folders.FOLDER / str(session["id"])


class CustomModelSessionTests(SessionsCase):
    """Chosen at the start, changed, given up."""

    def test_session_starts_with_a_custom_model(self) -> None:
        session = self.begun()
        custom = {"endpointId": self.endpoint_id, "modelId": "big", "label": "here"}
        self.assertEqual(custom, session["customModel"])
        shown = (session["displayModel"], session["displayModelSource"])
        self.assertEqual(("big", "custom-endpoint"), shown)
        spec = self.spec(session)
        self.assertEqual(URL, spec.env["ANTHROPIC_BASE_URL"])
        self.assertEqual(str(self.folder(session)), spec.env["CLAUDE_CONFIG_DIR"])
        self.assertNotIn(KEY, str(spec.env) + str(spec.argv))
        self.assertIn(KEY, (self.folder(session) / injection_folders.VARIABLES).read_text())

    def test_model_folder_is_removed_with_the_session(self) -> None:
        session = self.begun()
        self.assertTrue(self.folder(session).is_dir())
        self.api.request("DELETE", f"/api/sessions/{session['id']}")
        self.assertFalse(self.folder(session).exists())

    def test_files_written_after_the_end_are_removed_too(self) -> None:
        session = self.begun()
        folder = self.folder(session)
        refused = OSError(errno.ENOTEMPTY, "Directory not empty")
        with mock.patch.object(shutil, "rmtree", side_effect=refused):
            self.api.request("DELETE", f"/api/sessions/{session['id']}")
        self.assertTrue(folder.is_dir())
        self.clock.advance(PAUSES[0])
        self.assertFalse(folder.exists())
        folder.mkdir()
        self.clock.pump(PAUSES[1:])
        self.assertFalse(folder.exists())
        self.assertEqual([], [line for line in self.logged if "failed" in line])

    def test_folder_that_cannot_be_removed_is_logged(self) -> None:
        session = self.begun()
        with mock.patch.object(shutil, "rmtree", side_effect=PermissionError):
            self.api.request("DELETE", f"/api/sessions/{session['id']}")
            self.clock.pump(PAUSES)
        self.assertIn("removing the model folder", "".join(self.logged))
        self.assertTrue(self.flushLoggedErrors(PermissionError))

    def test_stopping_service_does_not_retry_the_removal(self) -> None:
        session = self.begun()
        self.api.request("DELETE", f"/api/sessions/{session['id']}")
        folder = self.folder(session)
        self.successResultOf(self.models.stop())
        folder.mkdir()
        self.clock.pump(PAUSES)
        self.assertTrue(folder.is_dir())

    def test_folders_left_by_a_kill_are_removed_at_the_start(self) -> None:
        session = self.begun()
        other = self.folder({"id": "0" * 36})
        other.mkdir()
        again = self.built().service
        self.run_now(again.start())
        self.assertTrue(self.folder(session).is_dir())
        self.assertFalse(other.exists())
        self.successResultOf(again.stop())

    def test_model_variables_of_the_user_are_ignored(self) -> None:
        body = {
            "mode": "primary",
            "start": True,
            "model": "opus",
            "envOverrides": {"ANTHROPIC_BASE_URL": "http://elsewhere", "ANTHROPIC_API_KEY": "own"},
            "customModel": {"endpointId": self.endpoint_id, "modelId": "big"},
        }
        session = self.api.post("/api/sessions", body).data["session"]
        spec = self.spec(session)
        self.assertNotIn("model", session["params"])
        self.assertNotIn("--model", spec.argv)
        self.assertEqual(URL, spec.env["ANTHROPIC_BASE_URL"])
        self.assertNotIn("ANTHROPIC_API_KEY", spec.env)

    def test_confirmation_is_asked_before_anything_is_created(self) -> None:
        small = self.make(endpointId=self.endpoint_id, modelId="small")
        warning = {
            "requiresContextWarning": True, "modelId": "small", "contextLength": 8_000,
            "minSafeContextTokens": 40_000,
        }  # fmt: skip
        self.assertEqual(warning, small.data)
        self.server.runs("other")
        self.assertEqual(warning, self.make(endpointId=self.endpoint_id, modelId="small").data)
        swap = {
            "requiresConfirmation": True, "currentlyLoadedModel": "other", "affectedSessions": [],
        }  # fmt: skip
        wish: dict[str, Any] = {"endpointId": self.endpoint_id, "modelId": "small"}
        self.assertEqual(swap, self.make(**wish, confirmedContext=True).data)
        self.assertEqual(warning, self.make(**wish, confirmedSwap=True).data)
        quick = {"caseName": "c", "mode": "primary", "customModel": wish}
        self.assertEqual(warning, self.api.post("/api/quick-start", quick).data)
        self.assertEqual([], self.sessions.list())
        self.assertFalse((self.machine.config.cases_dir / "c").exists())
        self.assertIn("session", self.make(**wish, confirmed=True).data)
        both = {**wish, "confirmedContext": True, "confirmedSwap": True}
        self.assertIn(
            "sessionId", self.api.post("/api/quick-start", {**quick, "customModel": both}).data
        )
        self.assertIn("session", self.make(endpointId=self.endpoint_id, modelId="untold",
                                           confirmedSwap=True).data)  # fmt: skip

    def test_swap_lists_the_affected_sessions_of_the_caller(self) -> None:
        """Live sessions with the loaded model; only those that the caller may see."""
        first, second = self.begun(), self.begun()
        self.begun("untold")
        self.sessions.update_record(second["id"], owner="bob")
        self.server.runs("big")
        asked = self.make(endpointId=self.endpoint_id, modelId="untold").data
        self.assertEqual({first["id"], second["id"]}, {e["id"] for e in asked["affectedSessions"]})
        self.gate.identity = Identity(username="bob", admin=False)
        asked = self.make(endpointId=self.endpoint_id, modelId="untold").data
        self.assertEqual([second["id"]], [each["id"] for each in asked["affectedSessions"]])
        self.gate.identity = ADMIN
        self.assertEqual({"customModel", "restarted"}, set(self.change(
            first, endpointId=self.endpoint_id, modelId="big").data))  # fmt: skip

    def test_invalid_model_choices_are_refused(self) -> None:
        self.assert_error(404, "none", self.make(endpointId="none", modelId="m"))
        self.assert_error(400, "modelId", self.make(endpointId=self.endpoint_id, modelId="-m"))
        self.machine.install("agy")
        agy = self.make("antigravity", endpointId=self.endpoint_id, modelId="big")
        self.assert_error(400, "antigravity", agy)
        self.assert_error(
            400, "mode", self.make("nope", endpointId=self.endpoint_id, modelId="big")
        )
        session = self.begun()
        self.assert_error(400, "endpointId", self.change(session))
        self.assert_error(400, "modelId", self.change(session, endpointId=self.endpoint_id))
        self.sessions.update_record(session["id"], status=SessionStatus.BUSY)
        busy = self.change(session, endpointId=self.endpoint_id, modelId="untold")
        self.assertEqual((409, "SESSION_BUSY"), busy.error[:2])
        self.assertEqual((409, "SESSION_BUSY"), self.change(session, clear=True).error[:2])
        self.sessions.update_record(
            session["id"], status=SessionStatus.IDLE, location=SessionLocationKind.REMOTE
        )
        self.assert_error(400, "this machine", self.change(session, clear=True))

    def test_model_of_a_running_session_is_changed(self) -> None:
        session = self.begun()
        answer = self.change(session, endpointId=self.endpoint_id, modelId="untold").data
        custom = {"endpointId": self.endpoint_id, "modelId": "untold", "label": "here"}
        self.assertEqual({"customModel": custom, "restarted": True}, answer)
        self.assertEqual("untold", self.spec(session).env["ANTHROPIC_MODEL"])
        now = self.api.get(f"/api/sessions/{session['id']}").data
        self.assertEqual("untold", now["displayModel"])
        self.assertIsNotNone(now["pid"])

    def test_custom_model_of_a_session_is_cleared(self) -> None:
        session = self.begun()
        answer = self.change(session, clear=True).data
        self.assertEqual({"customModel": None, "restarted": True}, answer)
        self.assertNotIn("ANTHROPIC_BASE_URL", self.spec(session).env)
        self.assertFalse(self.folder(session).exists())
        now = self.api.get(f"/api/sessions/{session['id']}").data
        self.assertNotIn("customModel", now)
        self.assertIsNone(now["displayModel"])
        again = self.change(session, clear=True).data
        self.assertEqual({"customModel": None, "restarted": False}, again)

    def test_model_is_chosen_before_the_start(self) -> None:
        session = self.api.post("/api/sessions", {"mode": "codex"}).data["session"]
        answer = self.change(session, endpointId=self.endpoint_id, modelId="big").data
        self.assertFalse(answer["restarted"])
        self.api.request("POST", f"/api/sessions/{session['id']}/start")
        self.assertEqual(str(self.folder(session)), self.spec(session).env["CODEX_HOME"])

    def test_endpoint_in_use_cannot_be_deleted(self) -> None:
        session = self.begun()
        path = f"/api/model-endpoints/{self.endpoint_id}"
        self.assertEqual((409, "CONFLICT"), self.api.request("DELETE", path).error[:2])
        self.change(session, clear=True)
        self.assertEqual({}, self.api.request("DELETE", path).data)

    def test_missing_endpoint_refuses_the_start(self) -> None:
        """A session of it does not start on anything else."""
        body = {
            "mode": "primary",
            "customModel": {"endpointId": self.endpoint_id, "modelId": "big"},
        }
        session = self.api.post("/api/sessions", body).data["session"]
        self.switch(False)
        start = f"/api/sessions/{session['id']}/start"
        self.assert_error(422, "customModelEndpointsEnabled", self.api.request("POST", start))
        self.switch(True)
        self.api.request("DELETE", f"/api/model-endpoints/{self.endpoint_id}")
        self.assert_error(422, "customModel: ", self.api.request("POST", start))

    def test_claude_state_is_seeded_completely(self) -> None:
        session = self.begun()
        state = json.loads((self.folder(session) / ".claude.json").read_text())
        self.assertEqual({"hasCompletedOnboarding": True}, state)


class CustomModelOsUserTests(SessionsCase):
    """Sessions that run as somebody else."""

    multiuser = True

    def test_folder_of_an_os_user_belongs_to_it(self) -> None:
        """It is in that user's home, and worked on with that user's rights, over a restart too."""
        world = self.machine.os_users
        user = world.add("a", 2001)
        self.gate.identity = world.caller("ann", "a")
        session = self.begun()
        folder = user.home / injection_folders.GUEST_FOLDER / session["id"]
        self.assertEqual(str(folder), self.spec(session).env["CLAUDE_CONFIG_DIR"])
        self.assertIn(KEY, (folder / injection_folders.VARIABLES).read_text())
        self.assertFalse(self.folder(session).exists())
        again = self.built().service
        self.run_now(again.start())
        self.successResultOf(self.models.stop())
        world.acted.clear()
        self.api.request("DELETE", f"/api/sessions/{session['id']}")
        self.assertFalse(folder.exists())
        self.assertEqual(["a"], world.acted)
        self.successResultOf(again.stop())
