"""The settings file: changes are on the disk before they count, and a broken file is left alone."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub
from tservice.settings.model import Settings
from tservice.settings.service import SettingsService


class SettingsServiceCase(SynchronousTestCase):
    """A service with its own folder."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp()).absolute() / "settings.json"
        self.path.parent.mkdir()
        self.hub = EventHub()
        self.events: list[Event] = []
        self.hub.subscribe(self.events.append)

    def make(self, sign_in: SignInRule | None = None) -> SettingsService:
        service = SettingsService(self.path, self.hub, sign_in or SignInRule(is_required=False))
        service.load()
        return service

    def refusal(self, service: SettingsService, patch: dict[str, object]) -> ServiceError:
        before = (service.get(), self.path.read_bytes() if self.path.exists() else None)
        error: ServiceError = self.assertRaises(ServiceError, service.change_settings, patch)
        after = (service.get(), self.path.read_bytes() if self.path.exists() else None)
        self.assertEqual(before, after)
        self.assertEqual([], self.events)
        return error


class SettingsChangeTests(SettingsServiceCase):
    """Changing settings."""

    def test_missing_file_gives_the_defaults(self) -> None:
        self.assertEqual(Settings(), self.make().get())
        self.assertFalse(self.path.exists())

    def test_changed_setting_survives_a_restart(self) -> None:
        service = self.make()
        answered = service.change_settings({"historyLimit": 2000, "voiceSettings": {"apiKey": "k"}})
        self.assertEqual(2000, answered.history_limit)
        self.assertEqual(answered, service.get())
        self.assertEqual(answered, self.make().get())
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))

    def test_only_changed_settings_are_written(self) -> None:
        self.make().change_settings({"historyLimit": 2000})
        self.assertEqual({"historyLimit": 2000}, json.loads(self.path.read_text()))

    def test_concurrent_edits_and_unknown_keys_are_kept(self) -> None:
        service = self.make()
        self.path.write_text('{"displayName": "desk", "later": [1]}')
        service.change_settings({"historyLimit": 2000})
        self.assertEqual("desk", service.get().display_name)
        self.assertEqual(
            {"displayName": "desk", "later": [1], "historyLimit": 2000},
            json.loads(self.path.read_text()),
        )

    def test_change_is_published_without_the_secret(self) -> None:
        service = self.make()
        seen: list[tuple[int, int]] = []
        end = service.add_observer(
            lambda old, new: seen.append((old.history_limit, new.history_limit))
        )
        service.change_settings({"historyLimit": 2000, "voiceSettings": {"apiKey": "sk-secret"}})
        end()
        end()
        service.change_settings({"historyLimit": 3000})
        self.assertEqual([(100_000, 2000)], seen)
        self.assertEqual(["settings:changed"] * 2, [event.name for event in self.events])
        self.assertEqual(2000, to_wire(self.events[0])["historyLimit"])
        self.assertNotIn("sk-secret", repr(self.events))

    def test_failing_observer_is_only_logged(self) -> None:
        service = self.make()
        seen: list[int] = []

        def broken(old: Settings, new: Settings) -> None:
            raise ZeroDivisionError

        service.add_observer(broken)
        service.add_observer(lambda old, new: seen.append(new.history_limit))
        service.change_settings({"historyLimit": 2000})
        self.assertEqual([2000], seen)
        self.assertEqual(1, len(self.flushLoggedErrors(ZeroDivisionError)))
        self.assertEqual(1, len(self.events))


class TunnelSettingTests(SettingsServiceCase):
    """A tunnel that anybody could come through."""

    def test_tunnel_without_authentication_is_refused_before_writing(self) -> None:
        error = self.refusal(self.make(), {"tunnelEnabled": True, "historyLimit": 2000})
        self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        self.assertIn("tunnelEnabled", error.message)

    def test_tunnel_is_allowed_with_authentication_or_operator_consent(self) -> None:
        for rule in (SignInRule(True), SignInRule(False, is_open_by_choice=True)):
            self.assertTrue(self.make(rule).change_settings({"tunnelEnabled": True}).tunnel_enabled)

    def test_tunnel_can_always_be_switched_off(self) -> None:
        self.assertFalse(self.make().change_settings({"tunnelEnabled": False}).tunnel_enabled)

    def test_tunnel_setting_is_ignored_once_the_password_is_gone(self) -> None:
        self.make(SignInRule(True)).change_settings({"tunnelEnabled": True})
        self.assertFalse(self.make().get().tunnel_enabled)
        self.assertTrue(self.make(SignInRule(True)).get().tunnel_enabled)


class BrokenFileTests(SettingsServiceCase):
    """Files that are left alone."""

    def test_settings_file_readable_by_others_is_made_private(self) -> None:
        """It may hold a key; what somebody wrote into it by hand counts all the same."""
        self.path.write_text('{"readMyMindEnabled": true}')
        for mode in (0o644, 0o666, 0o640):
            self.path.chmod(mode)
            self.assertTrue(self.make().get().read_my_mind_enabled)
            self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
        link = self.path.with_name("elsewhere")
        self.path.rename(link)
        link.chmod(0o644)
        self.path.symlink_to(link)
        self.make()
        self.assertEqual(0o644, stat.S_IMODE(link.stat().st_mode), "not ours to change")

    def test_broken_json_is_left_alone(self) -> None:
        self.path.write_text('{"historyLimit": 2000,')
        service = self.make()
        self.assertEqual(Settings(), service.get())
        error = self.refusal(service, {"historyLimit": 3000})
        self.assertEqual(ErrorCode.CONFLICT, error.code)
        self.assertIn("line 1", error.message)
        self.assertNotIn("2000", error.message)
        self.path.write_text("{}")
        self.assertEqual(3000, service.change_settings({"historyLimit": 3000}).history_limit)

    def test_other_unusable_files_are_left_alone(self) -> None:
        for content in (b"[]", b"\xff", b"null", b"[" * 100_000, b"{}" + b" " * 2**20):
            self.path.write_bytes(content)
            error = self.refusal(self.make(), {"historyLimit": 3000})
            self.assertEqual(ErrorCode.CONFLICT, error.code, content[:10])

    def test_linked_settings_file_is_not_written(self) -> None:
        elsewhere = self.path.with_name("elsewhere.json")
        elsewhere.write_text('{"displayName": "desk"}')
        self.path.symlink_to(elsewhere)
        service = self.make()
        self.assertEqual("desk", service.get().display_name)
        self.assertEqual(ErrorCode.CONFLICT, self.refusal(service, {"historyLimit": 3000}).code)

    def test_pipe_instead_of_the_settings_file_does_not_block(self) -> None:
        os.mkfifo(self.path)
        self.assertEqual(Settings(), self.make().get())

    def test_missing_settings_folder_is_an_error(self) -> None:
        service = self.make()
        self.path.parent.rmdir()
        error = self.refusal(service, {"historyLimit": 3000})
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn("settings.json", error.message)
