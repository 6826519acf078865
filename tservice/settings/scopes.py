"""Scopes that a token needs to change settings (protocol-tokens)."""

from __future__ import annotations

from collections.abc import Mapping

from tservice.core.kernel.scopes import Scope

SETTING_SCOPES: Mapping[str, Scope | None] = {
    "readMyMindEnabled": None,
    "customModelEndpointsEnabled": None,
    "cliManagementEnabled": None,
    "mcpSyncEnabled": None,
    "primaryVoiceEnabled": None,
    "showPlanUsageLimits": None,
    "tunnelEnabled": Scope.ADMIN,
    "firstRunSeedEnabled": None,
    "workspaceHooksEnabled": None,
    "remoteAutoReconnect": None,
    "approvalsInboxEnabled": None,
    "keepScrollbackEnabled": None,
    "autoRestoreEnabled": None,
    "agentTokens": Scope.ADMIN,
    "externalSignals": None,
    "modelPrices": None,
    "terminalGround": None,
    "primaryMode": None,
    "trustFolders": Scope.ADMIN,
    "historyLimit": None,
    "displayName": None,
    "defaultMode": None,
    "defaultWorkingDir": None,
    "lastUsedCase": None,
    "caseOrder": None,
    "sessionOrder": None,
    "nice": None,
    "voiceSettings": None,
    "notificationPreferences": None,
    "readMyMindModel": None,
    "readMyMindModes": None,
    "agentChannelsOff": None,
    "reviewPromptTemplate": None,
    "stalls": None,
}
"""Additional scopes that a token needs to change a setting, by the name of the setting.

The scope is that of the operation with the same effect.  Settings that only permit an operation are
not listed.
"""
