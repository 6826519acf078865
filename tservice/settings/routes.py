"""Routes C{/api/settings}."""

from __future__ import annotations

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.scopes import READS_SETTINGS
from tservice.http.operation_decorator import operation
from tservice.http.operations import AccessRule, OperationCall, Scope
from tservice.settings.model import (
    SettingsPatch,
    SettingsResponse,
    list_changed_values,
    make_public_settings,
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

    @operation(
        "GET",
        "/api/settings",
        tag="Settings",
        access=AccessRule.USER,
        scope=Scope.SETTINGS,
        scope_reason=READS_SETTINGS,
    )
    async def read_settings(self, call: OperationCall) -> SettingsResponse:
        """Get all settings, with defaults filled in."""
        return make_public_settings(self._settings.get())

    @operation(
        "PUT",
        "/api/settings",
        tag="Settings",
        access=AccessRule.ADMIN,
        scope=Scope.SETTINGS,
        scope_reason=(
            "Only for admins. Some settings, such as the tunnel's switch, also need the "
            "scope admin."
        ),
        body_limit=BODY_LIMIT,
        errors=(ErrorCode.FORBIDDEN, ErrorCode.CONFLICT, ErrorCode.OPERATION_FAILED),
    )
    async def change_settings(self, call: OperationCall, body: SettingsPatch) -> SettingsResponse:
        """Change the given settings; returns all of them.

        @raise ServiceError: 403: the caller's token lacks the scope for a field.
        """
        wanted = list_changed_values(body)
        for name in wanted:
            scope = SETTING_SCOPES.get(name, Scope.ADMIN)
            if scope is not None and not call.caller.has_scope(scope):
                lacks = f"{name}: the token lacks the scope {scope}"
                raise ServiceError(ErrorCode.FORBIDDEN, lacks)
        return make_public_settings(self._settings.change_settings(wanted))
