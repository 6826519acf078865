"""Assembly of the routes for settings; the settings service is part of the runtime."""

from __future__ import annotations

from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService


def build_settings(settings: SettingsService) -> FeatureRegistration[SettingsService]:
    """Build the routes to read and change users' settings."""
    return FeatureRegistration(
        name="settings", service=settings, operations=collect_operations(SettingsRoutes(settings))
    )
