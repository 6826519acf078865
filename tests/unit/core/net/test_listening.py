"""Ports that are bound at start and open later, on real loopback sockets."""

from __future__ import annotations

import os
import socket
from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Factory, Protocol
from twisted.trial.unittest import TestCase

from tests.held_port import HeldPort
from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.core.net.endpoints import parse_listen
from tservice.core.net.listening import PortListener

LOOPBACK = "tcp:0:interface=127.0.0.1"


class ClosingProtocol(Protocol):
    """Hangs up at once."""

    def connectionMade(self) -> None:
        transport: Any = self.transport
        transport.loseConnection()


class AcceptingFactory(Factory):
    """Fires C{connected} when a connection is accepted."""

    noisy = False

    def __init__(self) -> None:
        self.accepted = 0
        self.connected: Deferred[None] = Deferred()

    def buildProtocol(self, addr: Any) -> Protocol:
        self.accepted += 1
        self.connected.callback(None)
        return ClosingProtocol()


class ListenerTests(TestCase):
    def listener(self, *texts: str) -> tuple[PortListener, AcceptingFactory]:
        factory = AcceptingFactory()
        addresses = parse_listen(Config(listen=texts))
        listener = PortListener(global_reactor, addresses, factory)
        self.addCleanup(listener.stopService)
        return listener, factory

    async def test_early_connection_waits_until_opened(self) -> None:
        listener, factory = self.listener(LOOPBACK)
        listener.startService()
        (url,) = listener.get_urls("")
        port = int(url.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)):
            self.assertEqual(0, factory.accepted)
            listener.open()
            await factory.connected
        self.assertEqual(1, factory.accepted)

    async def test_port_in_use_gives_a_one_line_error(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            text = f"tcp:{taken.getsockname()[1]}:interface=127.0.0.1"
            listener, _ = self.listener(text)
            error = self.assertRaises(StartError, listener.startService)
        self.assertEqual(f"tservice: listen: {text}: Address already in use", str(error))

    async def test_listener_urls_are_listed(self) -> None:
        path = f"{os.getcwd()}/t.sock"
        listener, _ = self.listener(f"unix:{path}", LOOPBACK, r"tcp6:0:interface=\:\:1")
        listener.startService()
        unix, first, second = listener.get_urls("/base")
        self.assertEqual(f"unix:{path}", unix)
        self.assertRegex(first, r"^http://127\.0\.0\.1:[1-9][0-9]*/base/$")
        self.assertRegex(second, r"^http://\[::1\]:[1-9][0-9]*/base/$")
        self.assertEqual(first.rstrip("/"), listener.get_local_url("/base"))

    async def test_unix_sockets_have_no_url(self) -> None:
        listener, _ = self.listener("unix:t.sock")
        listener.startService()
        self.assertIsNone(listener.get_local_url(""))

    async def test_local_url_is_the_loopback_port(self) -> None:
        listener, _ = self.listener("tcp:0:interface=127.0.0.2", LOOPBACK)
        everywhere = parse_listen(Config(listen=("tcp:0:interface=0.0.0.0",), password="x"))
        elsewhere = PortListener(global_reactor, everywhere, AcceptingFactory())
        self.addCleanup(elsewhere.stopService)
        for one in (listener, elsewhere):
            one.startService()
        self.assertRegex(str(listener.get_local_url("/b")), r"^http://127\.0\.0\.2:[0-9]+/b$")
        self.assertRegex(str(elsewhere.get_local_url("")), r"^http://127\.0\.0\.1:[0-9]+$")

    async def test_wildcard_port_is_shown_as_a_local_url(self) -> None:
        addresses = parse_listen(Config(listen=("tcp:0",), password="x"))
        listener = PortListener(global_reactor, addresses, AcceptingFactory())
        self.addCleanup(listener.stopService)
        listener.startService()
        self.assertRegex(str(listener.get_local_url("")), r"^http://127\.0\.0\.1:[0-9]+$")

    async def test_stop_frees_the_port(self) -> None:
        # Nobody else is given it meanwhile.
        held = HeldPort()
        self.addCleanup(held.close)
        listener, _ = self.listener(held.endpoint)
        listener.startService()
        (url,) = listener.get_urls("")
        await listener.stopService()
        again, _ = self.listener(held.endpoint)
        again.startService()
        self.assertEqual((url,), again.get_urls(""))
