"""Assembly of the routes for settings; the settings service is part of the runtime."""

from __future__ import annotations

from tservice.runtime.feature import FeatureRegistration
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService


def build_settings(settings: SettingsService) -> FeatureRegistration[SettingsService]:
    """Build the routes to read and change users' settings."""
    return FeatureRegistration(
        name="settings", service=settings, operations=SettingsRoutes(settings).list_operations()
    )
