"""Interfaces of the settings for other features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zope.interface import Interface

from tservice.settings.model import (
    ModelPrice,
    NotificationPreferences,
    Settings,
    VoiceSettings,
)

__all__ = [
    "IEditableSettings",
    "ISettings",
    "ModelPrice",
    "NotificationPreferences",
    "Settings",
    "SettingsObserver",
    "VoiceSettings",
]

SettingsObserver = Callable[[Settings, Settings], None]
"""Callback for the settings before and after a change."""


class ISettings(Interface):
    """Settings in use."""

    def get() -> Settings:
        """Return the current settings; call it again rather than keep the result."""

    def add_observer(observer: SettingsObserver) -> Callable[[], None]:
        """Call C{observer} after every change, once it is on disk.

        An exception of an observer is logged and does not affect the others.
        @return: ends it; may be called twice.
        """


class IEditableSettings(Interface):
    """Settings for features that keep data among them and change it by separate routes."""

    def change_settings(patch: Mapping[str, Any]) -> Settings:
        """Merge C{patch}, with the names and types of the wire, and return the new settings.

        @raise ServiceError: 403, 409, 422: nothing is changed.
        """
