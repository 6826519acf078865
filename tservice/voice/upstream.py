"""Interfaces of a WebSocket connection to a speech service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from attrs import field, frozen


class UpstreamListener(Protocol):
    """Receiver of the events of a connection to a speech service."""

    def connection_opened(self, line: UpstreamConnection) -> None:
        """Handle a connection that is open, as the handshake is complete."""

    def message_received(self, message: bytes) -> None:
        """Handle a text message from the speech service."""

    def buffer_filled(self) -> None:
        """Stop sending, because the connection's buffer is full."""

    def buffer_drained(self) -> None:
        """Resume sending, because the connection's buffer has room again."""

    def connection_ended(self, clean: bool) -> None:
        """Handle the end of the connection. Called exactly once, even if the connection never
        opened.

        @param clean: true after a closing handshake.
        """


class UpstreamConnection(Protocol):
    """Connection to a speech service."""

    def send_audio(self, sound: bytes) -> None:
        """Send recorded speech."""

    def send_text(self, text: str) -> None:
        """Send a text message in the format of the speech service."""

    def pause_reading(self) -> None:
        """Stop reading messages until L{resume_reading} is called."""

    def resume_reading(self) -> None:
        """Continue to read messages."""

    def abort_connection(self) -> None:
        """Close the connection without a closing handshake."""


@frozen(kw_only=True)
class UpstreamConnectRequest:
    """URL and credentials for a connection.

    @ivar url: URL that begins with C{ws://} or C{wss://}.
    @ivar query: parameters appended to the query of C{url}.
    """

    url: str
    query: str
    headers: Mapping[str, str] = field(repr=False)
