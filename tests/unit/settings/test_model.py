"""The rules of settings: what a body may say, and that a merge is exact."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from twisted.trial.unittest import SynchronousTestCase

from tests.event_helpers import to_wire
from tests.examples import example_count
from tservice.settings.model import (
    Settings,
    SettingsPatch,
    find_value_fault,
    list_changed_values,
    make_public_settings,
    merge_patch,
    parse_stored_settings,
)

NAMES = sorted(field.alias or name for name, field in Settings.model_fields.items())

VALUES: dict[str, list[tuple[Any, bool]]] = {
    "tunnelEnabled": [(True, True), ("true", False), (1, False)],
    "primaryMode": [("bypass", True), ("auto", True), ("Normal", False), ("", False)],
    "historyLimit": [
        (1000, True),
        (1_000_000, True),
        (999, False),
        (1_000_001, False),
        ("5000", False),
        (5000.5, False),
        (True, False),
    ],
    "displayName": [("Büro 1", True), ("", True), ("a\nb", False), ("x" * 61, False)],
    "defaultMode": [("shell", True), ("", False), ("../x", False)],
    "defaultWorkingDir": [("/srv/work here", True), ("", True), ("work", False), ("/a\0", False)],
    "lastUsedCase": [("my-case_1", True), ("", True), ("a/b", False)],
    "caseOrder": [(["b", "a"], True), ([], True), (["a", "a"], False), (["a b"], False)],
    "sessionOrder": [(["0a-1"], True), (["x"] * 2, False), ("x", False), (["a"] * 1001, False)],
    "nice": [({"enabled": True, "value": 19}, True), ({"value": 20}, False), ({"v": 1}, False)],
    "voiceSettings": [
        ({"provider": "third_party", "apiKey": "k-1"}, True),
        ({"apiKey": ""}, True),
        ({"apiKey": "a b"}, False),
        ({"apiKeySet": True}, False),
        ({"provider": "other"}, False),
        ({"language": "de-CH"}, True),
        ({"language": "d"}, False),
        ({"keyterms": ["tmux"] * 100}, True),
        ({"keyterms": ["tmux"] * 101}, False),
    ],
    "notificationPreferences": [({"events": ["stop"]}, True), ({"events": ["x"]}, False)],
    "readMyMindModel": [("opus[1m]", True), ("-x", False), ("a b", False), ("x" * 51, False)],
    "noSuchSetting": [(1, False)],
}


def parse(body: object) -> dict[str, Any]:
    return list_changed_values(SettingsPatch.model_validate_json(json.dumps(body)))


class PatchTests(SynchronousTestCase):
    """What a body may hold."""

    def test_values_out_of_range_are_refused(self) -> None:
        for name, cases in VALUES.items():
            for value, good in cases:
                if good:
                    self.assertEqual({name: value}, parse({name: value}))
                    self.assertIsNone(find_value_fault(name, value))
                    continue
                with self.assertRaises(ValidationError) as caught:
                    parse({name: value})
                self.assertEqual(name, caught.exception.errors()[0]["loc"][0], (name, value))
                self.assertIn(name, find_value_fault(name, value) or "", (name, value))

    def test_null_means_absent(self) -> None:
        self.assertEqual({}, parse(dict.fromkeys(NAMES)))
        self.assertEqual({"nice": {"value": 1}}, parse({"nice": {"value": 1, "enabled": None}}))

    def test_every_setting_can_be_changed(self) -> None:
        fields = SettingsPatch.model_fields.items()
        self.assertEqual(NAMES, sorted(field.alias or name for name, field in fields))


class DefaultTests(SynchronousTestCase):
    """What holds when nobody chose."""

    def test_features_with_network_access_are_off_by_default(self) -> None:
        data = to_wire(make_public_settings(Settings()))
        for name in (
            "readMyMindEnabled",
            "customModelEndpointsEnabled",
            "cliManagementEnabled",
            "mcpSyncEnabled",
            "primaryVoiceEnabled",
            "showPlanUsageLimits",
            "firstRunSeedEnabled",
            "tunnelEnabled",
        ):
            self.assertIs(False, data[name], name)
        for name in (
            "workspaceHooksEnabled",
            "remoteAutoReconnect",
            "approvalsInboxEnabled",
            "externalSignals",
        ):
            self.assertIs(True, data[name], name)
        self.assertEqual(100_000, data["historyLimit"])

    def test_api_key_is_never_shown(self) -> None:
        settings, faults = parse_stored_settings({"voiceSettings": {"apiKey": "sk-secret"}})
        self.assertEqual([], faults)
        self.assertEqual("sk-secret", settings.voice_settings.api_key)
        self.assertNotIn("sk-secret", repr(make_public_settings(settings)) + repr(settings))
        voice = to_wire(make_public_settings(settings))["voiceSettings"]
        self.assertIs(True, voice["apiKeySet"])
        self.assertNotIn("apiKey", voice)


class SettingsReadingTests(SynchronousTestCase):
    """A file that people edited."""

    def test_invalid_settings_fall_back_one_by_one(self) -> None:
        settings, faults = parse_stored_settings(
            {"historyLimit": 7, "displayName": "desk", "nice": {"value": 99}, "later": {"x": 1}}
        )
        self.assertEqual(
            (100_000, "desk", 0),
            (settings.history_limit, settings.display_name, settings.nice.value),
        )
        self.assertEqual(
            ["historyLimit", "nice.value", "later"], [fault.split(":")[0] for fault in faults]
        )

    def test_unencodable_value_is_a_fault(self) -> None:
        _, faults = parse_stored_settings({"displayName": "\ud800"})
        self.assertEqual("displayName", faults[0].split(":")[0])

    def test_change_replaces_an_invalid_value(self) -> None:
        stored = {"nice": {"value": 99}, "historyLimit": "many"}
        merged = merge_patch(stored, {"nice": {"enabled": True}, "historyLimit": 2000})
        settings, faults = parse_stored_settings(merged)
        self.assertEqual([], faults)
        self.assertEqual(
            (True, 0, 2000), (settings.nice.enabled, settings.nice.value, settings.history_limit)
        )

    def test_change_keeps_other_values(self) -> None:
        stored = {"voiceSettings": {"apiKey": "k", "language": "de"}, "later": 1}
        merged = merge_patch(stored, {"voiceSettings": {"language": "fr"}})
        self.assertEqual({"voiceSettings": {"apiKey": "k", "language": "fr"}, "later": 1}, merged)


GOOD = {
    name: st.sampled_from([value for value, good in cases if good])
    for name, cases in VALUES.items()
    if any(good for _, good in cases)
}
good_patches = st.fixed_dictionaries({}, optional=GOOD)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


class MergeProperties(SynchronousTestCase):
    """A merge is exact, and what is stored never keeps the settings from being read."""

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.lists(good_patches, max_size=4))
    def test_last_change_holds_and_other_values_stay(self, patches: list[dict[str, Any]]) -> None:
        stored: dict[str, Any] = {}
        want = json.loads(Settings().model_dump_json(by_alias=True))
        for patch in patches:
            stored = merge_patch(stored, parse(patch))
            for name, value in patch.items():
                want[name] = {**want[name], **value} if isinstance(value, dict) else value
        settings, faults = parse_stored_settings(stored)
        self.assertEqual([], faults)
        self.assertEqual(want, json.loads(settings.model_dump_json(by_alias=True)))

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.dictionaries(st.sampled_from(NAMES) | st.text(), anything, max_size=5), good_patches)
    def test_any_settings_file_is_readable_and_any_change_takes_effect(
        self, stored: dict[str, Any], patch: dict[str, Any]
    ) -> None:
        before, faults = parse_stored_settings(stored)
        self.assertEqual(
            len(faults),
            sum(find_value_fault(name, value) is not None for name, value in stored.items()),
        )
        after = parse_stored_settings(merge_patch(stored, patch))[0]
        old = json.loads(before.model_dump_json(by_alias=True))
        new = json.loads(after.model_dump_json(by_alias=True))
        for name in NAMES:
            value = patch.get(name, old[name])
            self.assertEqual(
                {**new[name], **value} if isinstance(value, dict) else value, new[name]
            )
