"""Interfaces through which other features use the settings."""

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
"""Callback after a change, with the settings before and after it."""


class ISettings(Interface):
    """Read access to the current settings."""

    def get() -> Settings:
        """Return the current settings.  Call this each time, because a kept result does not
        change.
        """

    def add_observer(observer: SettingsObserver) -> Callable[[], None]:
        """Call C{observer} after every change, once the change is on disk.

        An exception of an observer is logged and does not affect the others.

        @return: a function that removes the observer and may be called twice.
        """


class IEditableSettings(Interface):
    """Read and write access, for features that store data in the settings and have their own
    routes.
    """

    def change_settings(patch: Mapping[str, Any]) -> Settings:
        """Merge C{patch} into the settings, and return the new settings.

        @param patch: values by the field names of the API, nested for inner records.
        @raise ServiceError: 403, 409 or 422; nothing is changed then.
        """
