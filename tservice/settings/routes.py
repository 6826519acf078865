"""Routes C{/api/settings}."""

from __future__ import annotations

from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.event_payloads import SettingsPayload
from tservice.http.operations import AccessRule, Operation, OperationCall, Scope
from tservice.settings.model import (
    SettingsPatch,
    SettingsResponse,
    hide_secret_settings,
    list_changed_values,
)
from tservice.settings.scopes import SETTING_SCOPES
from tservice.settings.service import SettingsService

BODY_LIMIT = 512 * 1024
"""Maximum size of a body in bytes.

It suffices for two orders of a thousand names, and the longest texts with every character escaped.
"""


class SettingsRoutes:
    """Routes to read and change the settings; the rules are in L{SettingsService}."""

    def __init__(self, settings: SettingsService) -> None:
        self._settings = settings

    def list_operations(self) -> list[Operation]:
        """Return the routes for the operations table."""
        return [
            Operation(
                method="GET",
                path="/api/settings",
                access=AccessRule.USER,
                scope=Scope.SETTINGS,
                handler=self.read_settings,
                summary="Get all settings, with defaults filled in",
                tag="Settings",
                response_model=SettingsResponse,
            ),
            Operation(
                method="PUT",
                path="/api/settings",
                access=AccessRule.ADMIN,
                scope=Scope.SETTINGS,
                handler=self.change_settings,
                summary="Change the given settings; returns all of them",
                tag="Settings",
                body=SettingsPatch,
                body_limit=BODY_LIMIT,
                response_model=SettingsResponse,
                errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
            ),
        ]

    async def read_settings(self, call: OperationCall) -> SettingsPayload:
        """Return all settings."""
        return hide_secret_settings(self._settings.get())

    async def change_settings(self, call: OperationCall) -> SettingsPayload:
        """Merge the body into the settings, and return all settings.

        @raise ServiceError: 403: the caller's token lacks the scope for a field.
        """
        wanted = list_changed_values(call.body)
        for name in wanted:
            scope = SETTING_SCOPES.get(name, Scope.ADMIN)
            if scope is not None and not call.identity.has_scope(scope):
                lacks = f"{name}: the token lacks the scope {scope}"
                raise ServiceError(ErrorCode.FORBIDDEN, lacks)
        return hide_secret_settings(self._settings.change_settings(wanted))
