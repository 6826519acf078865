"""Managing the registry by its routes: the switch, the file."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from tests.event_helpers import to_wire
from tests.non_empty import require_items
from tests.unit.clis.fakes import FakeSettings, make_program
from tests.unit.clis.harness import MINE, REST, WRITES, CliServiceCase
from tests.unit.http.site_driver import ApiHarness
from tservice.clis.routes import CliBody, CliEnabledBody, ListQuery, NewCliBody
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventAudience
from tservice.http.operations import AccessRule


class AccessTests(CliServiceCase):
    """Who may, and when."""

    def test_every_cli_write_needs_the_setting(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        self.settings.settings = FakeSettings().get()
        before = self.path.read_bytes(), len(self.events)
        api = ApiHarness(self.operations)
        self.addCleanup(api.close)
        for method, path, good, name in WRITES:
            for body in (good, {"bogus": 1}, b"{"):
                answer = api.request(method, path.replace("{id}", name), body)
                self.assertEqual((403, "FORBIDDEN"), answer.error[:2])
                self.assertIn("cliManagementEnabled", answer.error[2])
        self.assertEqual(before, (self.path.read_bytes(), len(self.events)))
        self.assertEqual([], self.processes.spawned)

    def test_users_without_admin_rights_get_an_empty_list(self) -> None:
        self.settings.settings = FakeSettings().get()
        self.assertEqual(17, len(self.ok("GET", "/api/clis")))
        self.assertEqual([], self.ok("GET", "/api/clis", admin=False))

    def test_every_operation_is_covered(self) -> None:
        writes = {(method, path) for method, path, _, _ in WRITES}
        for operation in require_items(self.operations):
            if operation.method == "GET":
                listed = operation.path in ("/api/clis", "/api/clis/sign-in")
                self.assertEqual(AccessRule.USER if listed else AccessRule.ADMIN, operation.access)
            else:
                self.assertIn((operation.method, operation.path), writes)
                self.assertEqual(AccessRule.ADMIN, operation.access)


class CliListTests(CliServiceCase):
    """What clients see."""

    def test_stock_entry_is_described(self) -> None:
        want = {
            "id": "codex",
            "label": "Codex",
            "shortBadge": "CX",
            "order": 40,
            "kind": "agent",
            "enabled": True,
            "stock": True,
            "installed": False,
            "installCommand": "npm install -g @openai/codex",
            "customModel": True,
            "params": {
                "model": [],
                "sandbox": ["read-only", "workspace-write", "danger-full-access"],
                "approvalPolicy": ["on-request", "never"],
                "effort": ["minimal", "low", "medium", "high", "xhigh"],
            },
            "newline": "\x1b[13;2u",
        }
        found = self.item("codex")
        looked = found.pop("lookedIn")
        self.assertEqual(want, found)
        self.assertEqual([str(self.root / "bin"), str(self.root / ".local/bin")], looked[:2])
        self.assertIn(str(self.root / ".nvm/versions/node/*/bin"), looked)
        self.assertNotIn("params", self.item("shell"))
        make_program(self.root / "bin", "codex")
        self.clock.advance(30)
        self.assertTrue(self.item("codex")["installed"])
        self.assertNotIn("lookedIn", self.item("codex"))

    def test_absolute_path_is_not_searched_elsewhere(self) -> None:
        self.ok("POST", "/api/clis", {**MINE, "binaries": ["/opt/mine"]})
        self.assertEqual(["/opt/mine"], self.item("mine")["lookedIn"])

    def test_searched_folders_are_left_out_on_request(self) -> None:
        without = self.ok("GET", "/api/clis", query=ListQuery.model_validate({"lookedIn": "false"}))
        listed = self.ok("GET", "/api/clis")
        self.assertIn("lookedIn", {key for item in listed for key in item})
        for item in listed:
            item.pop("lookedIn", None)
        self.assertEqual(listed, without)

    def test_custom_and_disabled_clis_are_listed(self) -> None:
        self.ok("POST", "/api/clis", {**MINE, "enabled": False})
        item = self.item("mine")
        self.assertEqual((False, False), (item["enabled"], item["stock"]))
        self.assertNotIn("installCommand", item)
        self.assertNotIn("installCommand", self.item("shell"))


class CliWriteTests(CliServiceCase):
    """Switching, adding, replacing, removing."""

    def test_entry_is_disabled_and_enabled(self) -> None:
        answer = self.ok("PUT", "/api/clis/{id}", {"enabled": False}, id="codex")
        self.assertFalse(answer["enabled"])
        self.assertRaises(ServiceError, self.registry.get_enabled_entry, "codex")
        self.assertEqual({"codex": {"enabled": False}}, self.stored())
        self.start()
        self.assertFalse(self.item("codex")["enabled"])
        self.ok("PUT", "/api/clis/{id}", {"enabled": True}, id="codex")
        self.registry.get_enabled_entry("codex")
        self.assertEqual(["cli:changed"] * 2, [event.name for event in self.events])
        self.assertEqual({EventAudience.ADMINS}, {event.name.audience for event in self.events})

    def test_unknown_or_protected_entry_cannot_be_switched(self) -> None:
        path = "/api/clis/{id}"
        self.refused(ErrorCode.NOT_FOUND, "PUT", path, {"enabled": True}, id="nope")
        text = self.refused(ErrorCode.INVALID_INPUT, "PUT", path, {"enabled": False}, id="shell")
        self.assertTrue(text.startswith("enabled: "))
        self.assertTrue(self.ok("PUT", path, {"enabled": True}, id="shell")["enabled"])

    def test_custom_entry_is_added(self) -> None:
        self.assertTrue(self.ok("POST", "/api/clis", MINE)["enabled"])
        self.start()
        self.assertEqual(("mine",), self.registry.get_enabled_entry("mine").argv)
        for name in ("mine", "codex", "shell"):
            self.refused(ErrorCode.ALREADY_EXISTS, "POST", "/api/clis", {**MINE, "id": name})

    def test_invalid_custom_entry_is_refused(self) -> None:
        changes: list[dict[str, Any]] = [
            {"argv": ["a b"]},
            {"id": "A"},
            {"binaries": []},
            {"install": {"command": ["touch", "x"]}},
            {"capabilities": []},
        ]
        for change in changes:
            body = json.dumps({**MINE, **change})
            self.assertRaises(ValidationError, NewCliBody.model_validate_json, body)
        for name, more in (
            ("capabilities.composerReadyMark", {"capabilities": {"composerReadyMark": ""}}),
            ("capabilities.workingLine", {"capabilities": {"workingLine": "("}}),
            ("capabilities.nope", {"capabilities": {"nope": 1}}),
            ("capabilities.submission.wipe", {"capabilities": {"submission": {"wipe": "rm"}}}),
            ("version.pattern", {"version": {"pattern": "a"}}),
        ):
            text = self.refused(ErrorCode.INVALID_INPUT, "POST", "/api/clis", {**MINE, **more})
            self.assertTrue(text.startswith(f"{name}: "), text)
        unknown = {**MINE, "argv": ["mine", "{model}"]}
        text = self.refused(ErrorCode.INVALID_INPUT, "POST", "/api/clis", unknown)
        self.assertIn("unknown parameter model", text)

    def test_custom_entry_is_replaced(self) -> None:
        self.ok("POST", "/api/clis", {**MINE, "enabled": False})
        path = "/api/clis/custom/{id}"
        answer = self.ok("PUT", path, {**REST, "label": "New"}, id="mine")
        self.assertEqual(("New", False), (answer["label"], answer["enabled"]))
        answer = self.ok("PUT", path, {**REST, "enabled": True}, id="mine")
        self.assertEqual(("Mine", True), (answer["label"], answer["enabled"]))
        self.refused(ErrorCode.NOT_FOUND, "PUT", path, REST, id="nope")
        self.refused(ErrorCode.INVALID_INPUT, "PUT", path, REST, id="codex")
        body = json.dumps({**REST, "id": "mine"})
        self.assertRaises(ValidationError, CliBody.model_validate_json, body)

    def test_custom_entry_has_all_capabilities_that_are_given(self) -> None:
        more = {
            "order": 15,
            "params": {"model": {"type": "token", "pattern": ".{1,9}", "flag": "--model"}},
            "env": {"set": {"A": "1"}, "allowedPrefixes": ["OPENAI_"]},
            "version": {"argv": ["-v"]},
            "resume": {"argv": ["--resume", "{id}"]},
            "capabilities": {
                "composerShape": "framed",
                "composerReadyMark": "Type your message",
                "promptGlyph": ">",
                "workingLine": "esc to cancel",
                "screenSignals": True,
                "privilegedCommandGate": False,
                "modelDetect": {"pattern": "on (.+)", "rows": 3},
                "answers": {"deny": "C-c"},
                "submission": {"wipe": "C-u", "park": {"keys": ["C-s"], "returns": True}},
            },
        }
        self.ok("POST", "/api/clis", {**MINE, **more})
        self.assertEqual(more, {key: self.stored()["mine"][key] for key in more})
        self.start()
        entry = self.registry.get_enabled_entry("mine")
        self.assertEqual(
            ("Type your message", ">"),
            (entry.capabilities.composer_ready_mark, entry.capabilities.prompt_glyph),
        )
        self.assertTrue(self.registry.gives_signals("mine"))
        # A client that knows the four fields alone leaves the others as they are.
        path = "/api/clis/custom/{id}"
        self.ok("PUT", path, {**REST, "label": "New"}, id="mine")
        self.assertEqual(more, {key: self.stored()["mine"][key] for key in more})
        self.ok("PUT", path, {**REST, "capabilities": {}}, id="mine")
        self.assertEqual({}, self.stored()["mine"]["capabilities"])

    def test_custom_entry_is_removed(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        self.assertEqual({}, self.ok("DELETE", "/api/clis/{id}", id="mine"))
        self.assertEqual({}, self.stored())
        self.assertEqual({"id": "mine", "deleted": True}, to_wire(self.events[-1]))
        self.refused(ErrorCode.NOT_FOUND, "DELETE", "/api/clis/{id}", id="mine")
        self.refused(ErrorCode.INVALID_INPUT, "DELETE", "/api/clis/{id}", id="codex")

    def test_malformed_bodies_are_refused(self) -> None:
        for body in ({}, {"enabled": "true"}, {"enabled": None}, {"enabled": True, "x": 1}):
            self.assertRaises(ValidationError, CliEnabledBody.model_validate_json, json.dumps(body))


class CliFileTests(CliServiceCase):
    """Files that people made."""

    def test_broken_or_open_cli_file_is_never_overwritten(self) -> None:
        for content, mode in (("{", 0o600), ('{"clis": {"mine": {}}}', 0o644), ("[]", 0o600)):
            self.path.write_text(content)
            self.path.chmod(mode)
            self.start()
            self.assertEqual(17, len(self.registry.list_entries()))
            for method, path, body, name in WRITES:
                if not path.endswith("install"):
                    self.refused(ErrorCode.CONFLICT, method, path, body, id=name)

    def test_faults_of_the_clis_file_are_reported(self) -> None:
        self.assertEqual({"path": str(self.path), "entries": []}, self.ok("GET", "/api/clis/file"))
        self.path.write_text('{"clis": {"mine": {"label": 1}, "codex": {"order": 5}}}')
        self.path.chmod(0o600)
        (entry,) = self.ok("GET", "/api/clis/file")["entries"]
        self.assertEqual("mine", entry["id"])
        self.assertIn("label", entry["problem"])
        self.path.chmod(0o644)
        self.assertIn("0600", self.ok("GET", "/api/clis/file")["problem"])
        self.path.chmod(0o600)
        self.path.write_text("{")
        told = self.ok("GET", "/api/clis/file")
        self.assertEqual((True, []), ("problem" in told, told["entries"]))

    def test_custom_entry_shows_its_command(self) -> None:
        self.ok("POST", "/api/clis", MINE)
        self.assertEqual(MINE["argv"], self.item("mine")["argv"])
        self.assertEqual(MINE["binaries"], self.item("mine")["binaries"])
        self.assertNotIn("argv", self.item("codex"))

    def test_concurrent_edits_of_the_file_are_kept(self) -> None:
        self.path.write_text('{"clis": {"BAD": {"note": 1}, "codex": {"order": 5}}}')
        self.path.chmod(0o600)
        self.ok("POST", "/api/clis", MINE)
        self.assertEqual({"BAD", "codex", "mine"}, set(self.stored()))
        self.assertEqual(5, self.item("codex")["order"])

    def test_bad_override_is_a_fault_of_the_file(self) -> None:
        for data in ("[]", '{"argv": []}'):
            self.path.write_text(f'{{"clis": {{"codex": {data}}}}}')
            self.path.chmod(0o600)
            self.start()
            self.refused(
                ErrorCode.CONFLICT, "PUT", "/api/clis/{id}", {"enabled": False}, id="codex"
            )

    def test_invalid_custom_cli_can_be_replaced_and_removed(self) -> None:
        for method, path in (("PUT", "/api/clis/custom/{id}"), ("DELETE", "/api/clis/{id}")):
            self.path.write_text('{"clis": {"mine": {"label": 1}}}')
            self.path.chmod(0o600)
            self.start()
            self.assertIsNone(self.registry.get_entry("mine"))
            self.refused(ErrorCode.ALREADY_EXISTS, "POST", "/api/clis", MINE)
            self.ok(method, path, REST if method == "PUT" else None, id="mine")
