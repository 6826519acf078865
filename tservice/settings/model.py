"""Settings: names, ranges and defaults, and merging of a change (protocol-settings).

Nothing here does I/O.  A setting whose feature is switched off is still stored and validated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    create_model,
)
from pydantic.alias_generators import to_camel

from tservice.core.kernel.event_payloads import SettingsPayload
from tservice.core.values.failfast import FAIL_FAST
from tservice.core.values.payload import Payload
from tservice.core.values.text import CASE_NAME, LINE

_TEXT = f"^{LINE}$"


def _refuse_duplicates(items: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(items)) != len(items):
        raise ValueError("must not name anything twice")
    return items


CaseName = Annotated[str, StringConstraints(pattern=f"^{CASE_NAME}$", max_length=128)]
SessionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,64}$")]
CaseOrder = Annotated[
    tuple[CaseName, ...],
    Field(max_length=1000, strict=False),
    FAIL_FAST,
    AfterValidator(_refuse_duplicates),
]
SessionOrder = Annotated[
    tuple[SessionId, ...],
    Field(max_length=1000, strict=False),
    FAIL_FAST,
    AfterValidator(_refuse_duplicates),
]
Mode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,23}$")]
ModelName = Annotated[
    str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_][A-Za-z0-9_@%+=:,./\[\]-]*)?$", max_length=50)
]
Folder = Annotated[str, StringConstraints(pattern=r"^(?:/[^\x00-\x1f\x7f]*)?$", max_length=4096)]
Language = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$", max_length=35)
]
Modes = Annotated[
    tuple[Mode, ...],
    Field(max_length=24, strict=False),
    FAIL_FAST,
    AfterValidator(_refuse_duplicates),
]
Dollars = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
Term = Annotated[str, StringConstraints(pattern=_TEXT, min_length=1, max_length=64)]
NotifiedEvent = Literal[
    "permission_prompt", "elicitation_dialog", "idle_prompt", "stop", "exit", "error", "stalled"
]


def _check_review_template(text: str) -> str:
    if text and "{comments}" not in text:
        raise ValueError("must contain {comments}")
    return text


ReviewTemplate = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$", max_length=4000),
    AfterValidator(_check_review_template),
]


class SettingsRecord(BaseModel):
    """Frozen and strict model; camelCase in the file and on the wire."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, defer_build=True
    )


class NiceSettings(SettingsRecord):
    """Priority that new sessions start with."""

    enabled: bool = False
    value: Annotated[int, Field(ge=-20, le=19)] = 0


class VoiceSettings(SettingsRecord):
    """Settings of voice dictation.

    @ivar api_key: key of the third-party provider. It can be set but is never returned.
    """

    provider: Literal["auto", "primary", "third_party", "browser"] = "auto"
    api_key: Annotated[
        str, StringConstraints(pattern=r"^[\x21-\x7e]*$", max_length=500), Field(repr=False)
    ] = ""
    language: Language = "en"
    keyterms: Annotated[tuple[Term, ...], Field(max_length=100, strict=False), FAIL_FAST] = ()

    @property
    def api_key_set(self) -> bool:
        """True if there is a key."""
        return bool(self.api_key)


class PublicVoiceSettings(Payload):
    """Settings of voice dictation. Instead of the key, they say if there is one."""

    provider: str
    api_key_set: bool
    language: str
    keyterms: tuple[str, ...]


class NotificationPreferences(SettingsRecord):
    """Notifications of the browser UI."""

    enabled: bool = False
    sound: bool = False
    events: Annotated[
        tuple[NotifiedEvent, ...],
        Field(max_length=16, strict=False),
        FAIL_FAST,
        AfterValidator(_refuse_duplicates),
    ] = (
        "permission_prompt",
        "elicitation_dialog",
        "idle_prompt",
    )


class StallSettings(SettingsRecord):
    """Settings of the detection of agents that hang.

    @ivar silence_minutes: without any progress, outside of tools.
    @ivar tool_minutes: without progress and use of the processor, while a tool runs.
    @ivar nudge: press Escape and type C{go on} in agents that are silent or show an API error.
    """

    model_config = ConfigDict(populate_by_name=True)

    enabled: bool = True
    silence_minutes: Annotated[int, Field(ge=3, le=240)] = 5
    tool_minutes: Annotated[int, Field(ge=3, le=1440)] = 20
    nudge: bool = False


class ModelPrice(SettingsRecord):
    """Price of a model in US dollars per million tokens, and its context window.

    @ivar model: the model's name; C{*} and C{?} are wildcards.
    @ivar cache_read: C{None}: same as C{input}; the same holds for C{cache_write}.
    @ivar window: tokens of a conversation; C{None}: unknown.
    """

    model: Annotated[
        str, StringConstraints(pattern=r"^[A-Za-z0-9_.:/@*?\[\]-]+$", min_length=1, max_length=100)
    ]
    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None
    window: Annotated[int, Field(ge=1, le=100_000_000)] | None = None


class Settings(SettingsRecord):
    """Complete settings. An empty string means that no value was chosen.

    @ivar history_limit: lines of scrollback of a new pane.
    @ivar external_signals: agents without hooks whose screens are reliable give C{stop} and
        C{blocked},
        and their dialogs become items of the inbox.
    @ivar terminal_ground: background that is reported to programs while no client shows the
        terminal.
    @ivar primary_mode: permission mode in which primary sessions start.
    @ivar trust_folders: folders that the service confirms as trusted.
    @ivar review_prompt_template: text that replaces the prompt with which comments are sent.
    @ivar model_prices: rows that precede the built-in ones.
    """

    read_my_mind_enabled: bool = False
    custom_model_endpoints_enabled: bool = False
    cli_management_enabled: bool = False
    mcp_sync_enabled: bool = False
    primary_voice_enabled: bool = False
    show_plan_usage_limits: bool = False
    tunnel_enabled: bool = False
    first_run_seed_enabled: bool = False
    workspace_hooks_enabled: bool = True
    remote_auto_reconnect: bool = True
    approvals_inbox_enabled: bool = True
    keep_scrollback_enabled: bool = True
    auto_restore_enabled: bool = False
    agent_tokens: bool = False
    external_signals: bool = True
    terminal_ground: Literal["dark", "light"] = "dark"
    primary_mode: Literal["bypass", "auto", "normal"] = "bypass"
    trust_folders: Literal["ask", "own", "always"] = "own"
    history_limit: Annotated[int, Field(ge=1000, le=1_000_000)] = 100_000
    display_name: Annotated[str, StringConstraints(pattern=_TEXT, max_length=60)] = ""
    default_mode: Mode = "primary"
    default_working_dir: Folder = ""
    last_used_case: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{0,128}$")] = ""
    case_order: CaseOrder = ()
    session_order: SessionOrder = ()
    nice: NiceSettings = NiceSettings()
    voice_settings: VoiceSettings = VoiceSettings()
    notification_preferences: NotificationPreferences = NotificationPreferences()
    stalls: StallSettings = StallSettings()
    read_my_mind_model: ModelName = ""
    read_my_mind_modes: Modes = ("primary",)
    agent_channels_off: Modes = ()
    review_prompt_template: ReviewTemplate = ""
    model_prices: Annotated[
        tuple[ModelPrice, ...], Field(strict=False, max_length=200), FAIL_FAST
    ] = ()


def _patch_model(model: type[BaseModel]) -> type[SettingsRecord]:
    """Return a model with the fields of C{model}, all optional, inner records included."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        if isinstance(kind, type) and issubclass(kind, SettingsRecord):
            kind = _patch_model(kind)
        elif field.metadata:
            kind = Annotated[kind, *field.metadata]
        fields[name] = (kind | None, None)
    return create_model(f"{model.__name__}Patch", __base__=SettingsRecord, **fields)


def _public_model() -> type[SettingsPayload]:
    """Complete settings, with C{apiKeySet} in place of the key."""
    kinds: dict[str, Any] = {
        name: field.annotation for name, field in Settings.model_fields.items()
    } | {"voice_settings": PublicVoiceSettings}
    fields: dict[str, Any] = {name: (kind, ...) for name, kind in kinds.items()}
    return create_model(
        "SettingsAnswer", __base__=SettingsPayload, __doc__=_public_model.__doc__, **fields
    )


if TYPE_CHECKING:
    # A type checker cannot see the fields, which come from the settings.
    SettingsResponse = SettingsPayload
    SettingsPatch = SettingsRecord
else:
    SettingsResponse = _public_model()
    """Settings as clients see them."""

    SettingsPatch = _patch_model(Settings)
    """Body of a change; fields that are absent or null keep their values."""


def list_changed_values(patch: BaseModel) -> dict[str, Any]:
    """Return the changes in a L{SettingsPatch} as JSON data, by the field names of the API."""
    return patch.model_dump(mode="json", by_alias=True, exclude_none=True)


def merge_patch(stored: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return C{stored} with C{patch} merged into it.

    Objects are merged key by key, other values are replaced.  An invalid stored object, for which
    the default is in use (L{parse_stored_settings}), is replaced as a whole; otherwise the change
    would
    have no effect.
    """
    merged = dict(stored)
    for name, value in patch.items():
        old = merged.get(name)
        if (
            isinstance(old, dict)
            and isinstance(value, dict)
            and find_value_fault(name, old) is None
        ):
            value = {**old, **value}
        merged[name] = value
    return merged


def parse_stored_settings(stored: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """Return the settings in a file, with defaults for missing and invalid values.

    @param stored: the JSON object in the file.
    @return: the settings, and one line for each ignored key that gives the reason: the key is
        unknown, or its value breaks a rule.  The lines never hold a value.
    """
    found = {name: find_value_fault(name, value) for name, value in stored.items()}
    used = {name: stored[name] for name, fault in found.items() if fault is None}
    faults = [fault for fault in found.values() if fault is not None]
    return Settings.model_validate_json(json.dumps(used)), faults


def find_value_fault(name: str, value: object) -> str | None:
    """Return the reason why a stored value cannot be used; C{None} if it is valid.

    The text names the field and the rule, never the value.
    """
    try:
        Settings.model_validate_json(json.dumps({name: value}))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or name
        return f"{field}: {fault['msg'].removeprefix('Value error, ')}"
    return None


def make_public_settings(settings: Settings) -> SettingsPayload:
    """Return the settings as clients see them."""
    return SettingsResponse.model_validate(settings, from_attributes=True)
