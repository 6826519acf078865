"""Settings over HTTP; the settings themselves are part of the runtime."""

from __future__ import annotations

from tservice.ground.feature import Feature
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService


def build_settings(settings: SettingsService) -> Feature[SettingsService]:
    """Build the routes to read and change users' settings."""
    return Feature(
        name="settings", service=settings, operations=SettingsRoutes(settings).list_operations()
    )
