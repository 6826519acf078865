"""Settings: what a program may ask, send and get.  Written by C{make docs}."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from tservice.client.calling import Calling


class ModelPrice(TypedDict):
    """What a model costs, in US dollars for a million tokens, and how many it takes."""

    model: str
    input: float
    output: float
    cacheRead: NotRequired[float | None]
    cacheWrite: NotRequired[float | None]
    window: NotRequired[int | None]


class Nice(TypedDict):
    """The priority that new sessions start with."""

    enabled: NotRequired[bool]
    value: NotRequired[int]


class NicePatch(TypedDict):
    """NicePatch"""

    enabled: NotRequired[bool | None]
    value: NotRequired[int | None]


class NotificationPreferences(TypedDict):
    """What the browser UI draws attention to."""

    enabled: NotRequired[bool]
    sound: NotRequired[bool]
    events: NotRequired[
        list[
            Literal[
                "permission_prompt", "elicitation_dialog", "idle_prompt", "stop", "exit", "error"
            ]
        ]
    ]


class NotificationPreferencesPatch(TypedDict):
    """NotificationPreferencesPatch"""

    enabled: NotRequired[bool | None]
    sound: NotRequired[bool | None]
    events: NotRequired[
        list[
            Literal[
                "permission_prompt", "elicitation_dialog", "idle_prompt", "stop", "exit", "error"
            ]
        ]
        | None
    ]


class PublicVoice(TypedDict):
    """Voice dictation; of the key only whether there is one."""

    provider: str
    apiKeySet: bool
    language: str
    keyterms: list[str]


class SettingsAnswer(TypedDict):
    """Every setting, C{apiKeySet} in place of the key."""

    readMyMindEnabled: bool
    customModelEndpointsEnabled: bool
    cliManagementEnabled: bool
    mcpSyncEnabled: bool
    primaryVoiceEnabled: bool
    showPlanUsageLimits: bool
    tunnelEnabled: bool
    firstRunSeedEnabled: bool
    workspaceHooksEnabled: bool
    remoteAutoReconnect: bool
    approvalsInboxEnabled: bool
    keepScrollbackEnabled: bool
    autoRestoreEnabled: bool
    agentTokens: bool
    externalSignals: bool
    terminalGround: Literal["dark", "light"]
    primaryMode: Literal["bypass", "auto", "normal"]
    trustFolders: Literal["ask", "own", "always"]
    historyLimit: int
    displayName: str
    defaultMode: str
    defaultWorkingDir: str
    lastUsedCase: str
    caseOrder: list[str]
    sessionOrder: list[str]
    nice: Nice
    voiceSettings: PublicVoice
    notificationPreferences: NotificationPreferences
    readMyMindModel: str
    readMyMindModes: list[str]
    modelPrices: list[ModelPrice]


class SettingsPatch(TypedDict):
    """SettingsPatch"""

    readMyMindEnabled: NotRequired[bool | None]
    customModelEndpointsEnabled: NotRequired[bool | None]
    cliManagementEnabled: NotRequired[bool | None]
    mcpSyncEnabled: NotRequired[bool | None]
    primaryVoiceEnabled: NotRequired[bool | None]
    showPlanUsageLimits: NotRequired[bool | None]
    tunnelEnabled: NotRequired[bool | None]
    firstRunSeedEnabled: NotRequired[bool | None]
    workspaceHooksEnabled: NotRequired[bool | None]
    remoteAutoReconnect: NotRequired[bool | None]
    approvalsInboxEnabled: NotRequired[bool | None]
    keepScrollbackEnabled: NotRequired[bool | None]
    autoRestoreEnabled: NotRequired[bool | None]
    agentTokens: NotRequired[bool | None]
    externalSignals: NotRequired[bool | None]
    terminalGround: NotRequired[Literal["dark", "light"] | None]
    primaryMode: NotRequired[Literal["bypass", "auto", "normal"] | None]
    trustFolders: NotRequired[Literal["ask", "own", "always"] | None]
    historyLimit: NotRequired[int | None]
    displayName: NotRequired[str | None]
    defaultMode: NotRequired[str | None]
    defaultWorkingDir: NotRequired[str | None]
    lastUsedCase: NotRequired[str | None]
    caseOrder: NotRequired[list[str] | None]
    sessionOrder: NotRequired[list[str] | None]
    nice: NotRequired[NicePatch | None]
    voiceSettings: NotRequired[VoiceSettingsPatch | None]
    notificationPreferences: NotRequired[NotificationPreferencesPatch | None]
    readMyMindModel: NotRequired[str | None]
    readMyMindModes: NotRequired[list[str] | None]
    modelPrices: NotRequired[list[ModelPrice] | None]


class VoiceSettingsPatch(TypedDict):
    """VoiceSettingsPatch"""

    provider: NotRequired[Literal["auto", "primary", "third_party", "browser"] | None]
    apiKey: NotRequired[str | None]
    language: NotRequired[str | None]
    keyterms: NotRequired[list[str] | None]


class Settings(Calling):
    """Settings."""

    async def get_settings(self) -> SettingsAnswer:
        """Every setting, defaults filled in."""
        found: SettingsAnswer = await self.call("GET", "/settings")
        return found

    async def put_settings(self, body: SettingsPatch) -> SettingsAnswer:
        """Change the settings given; answers all of them."""
        found: SettingsAnswer = await self.call("PUT", "/settings", body=body)
        return found
