"""What other features know of the settings."""

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
    "IChangingSettings",
    "ISettings",
    "ModelPrice",
    "NotificationPreferences",
    "Settings",
    "SettingsObserver",
    "VoiceSettings",
]

SettingsObserver = Callable[[Settings, Settings], None]
"""Is given the settings before and after a change."""


class ISettings(Interface):
    """The settings in use."""

    def get() -> Settings:
        """The settings now; ask again rather than keep them."""

    def observe(observer: SettingsObserver) -> Callable[[], None]:
        """Tell C{observer} of every change, once it is on the disk.

        An observer that raises is logged and keeps nobody else from hearing.
        @return: ends it; may be called twice.
        """


class IChangingSettings(Interface):
    """The settings, for what has a route of its own and is kept among them."""

    def change(patch: Mapping[str, Any]) -> Settings:
        """Merge C{patch}, with the names and forms of the wire; what holds now.

        @raise ServiceError: 403, 409, 422: it is not changed.
        """
