"""What other features know of the settings."""

from __future__ import annotations

from collections.abc import Callable

from zope.interface import Interface

from tservice.settings.model import (
    ModelPrice,
    NotificationPreferences,
    Settings,
    VoiceSettings,
)

__all__ = [
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
