"""The settings over HTTP; they themselves are part of the ground."""

from __future__ import annotations

from tservice.ground.feature import Feature
from tservice.settings.routes import SettingsRoutes
from tservice.settings.service import SettingsService


def build_settings(settings: SettingsService) -> Feature[SettingsService]:
    """Reading and changing what people chose."""
    return Feature(
        name="settings", service=settings, operations=SettingsRoutes(settings).operations()
    )
