"""Who can reach an endpoint, and what is refused."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor as global_reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.protocol import Factory
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase, TestCase

from tservice.core.config.model import Config
from tservice.core.kernel.errors import StartError
from tservice.core.net.endpoints import ListenAddress, make_endpoint, parse_listen


def parse(*texts: str, **rest: Any) -> tuple[ListenAddress, ...]:
    return parse_listen(Config(listen=texts, **rest))


class EndpointParserTests(SynchronousTestCase):
    def refused(self, *texts: str, **rest: Any) -> str:
        return str(self.assertRaises(StartError, parse, *texts, **rest))

    def test_loopback_endpoint_needs_no_password(self) -> None:
        for text in [
            "tcp:8770:interface=127.0.0.1",
            "tcp:0:127.0.0.1",
            "tcp:interface=127.0.0.9:8770",
            r"tcp6:8770:interface=\:\:1",
            "ssl:8443:privateKey=k.pem:interface=127.0.0.1",
            "unix:/run/t.sock",
            "unix:t.sock:mode=600",
        ]:
            self.assertEqual([False], [address.shared for address in parse(text)], text)

    def test_other_addresses_need_a_password(self) -> None:
        for text in [
            "tcp:8770",
            "tcp:8770:interface=",
            "tcp:8770:interface=0.0.0.0",
            "tcp:8770:interface=192.0.2.1",
            r"tcp6:8770:interface=\:\:",
            "tcp6:8770",
            "ssl:8443:privateKey=k.pem",
            "unix:t.sock:mode=660",
            "unix:t.sock:mode=666",
        ]:
            line = self.refused("tcp:1:interface=127.0.0.1", text)
            self.assertIn(f"{text} can be reached by others and no password is set", line)
            self.assertTrue(parse(text, password="x")[0].shared)
            self.assertTrue(parse(text, multiuser=True)[0].shared)
            self.assertTrue(parse(text, allow_unauthenticated_network=True)[0].shared)

    def test_invalid_endpoints_are_explained(self) -> None:
        self.assertIn("at least one endpoint", self.refused())
        self.assertIn("must start with one of tcp, tcp6, ssl, unix", self.refused("8770"))
        self.assertIn("must start with one of", self.refused("haproxy:tcp:8770"))
        self.assertIn("must name a port", self.refused("tcp"))
        self.assertIn("port from 0 to 65535", self.refused("tcp:http"))
        self.assertIn("port from 0 to 65535", self.refused("tcp:65536"))
        self.assertIn("must be an IP address", self.refused("tcp:1:interface=localhost"))
        self.assertIn("must name a path", self.refused("unix:"))
        self.assertIn("longer than 107 bytes", self.refused("unix:/" + "x" * 107))
        self.assertIn("mode must be octal", self.refused("unix:t.sock:mode=rw"))

    @given(st.text(max_size=60))
    def test_any_text_is_an_endpoint_or_a_one_line_error(self, text: str) -> None:
        try:
            parse(text)
        except StartError:
            return
        self.assertTrue(text.startswith(("tcp", "ssl", "unix")))


class MakeTests(SynchronousTestCase):
    def test_wrong_parameters_give_a_one_line_error(self) -> None:
        for text in ["tcp:1:interface=127.0.0.1:nonsense=1", "tcp:1:127.0.0.1:backlog=x"]:
            (address,) = parse(text)
            error = self.assertRaises(StartError, make_endpoint, MemoryReactorClock(), address)
            self.assertIn(f"listen: {text}: ", str(error))

    def test_listen_backlog_is_large(self) -> None:
        for text, want in [
            ("tcp:1:interface=127.0.0.1", 1024),
            ("tcp:1:127.0.0.1", 1024),
            ("tcp:1:interface=127.0.0.1:backlog=7", 7),
            ("tcp:1:127.0.0.1:7", 7),
        ]:
            reactor = MemoryReactorClock()
            (address,) = parse(text)
            self.successResultOf(make_endpoint(reactor, address).listen(Factory()))
            self.assertEqual([want], [server[2] for server in reactor.tcpServers], text)
        for text, want in [("unix:/run/t.sock", 1024), ("unix:/run/t.sock:backlog=7", 7)]:
            reactor = MemoryReactorClock()
            (address,) = parse(text)
            self.successResultOf(make_endpoint(reactor, address).listen(Factory()))
            self.assertEqual([want], [server[2] for server in reactor.unixServers], text)

    def test_missing_key_file_is_an_error(self) -> None:
        (address,) = parse("ssl:1:privateKey=nowhere.pem:interface=127.0.0.1")
        error = self.assertRaises(StartError, make_endpoint, MemoryReactorClock(), address)
        self.assertIn("nowhere.pem", str(error))

    def test_unix_socket_path_is_taken_literally(self) -> None:
        reactor = MemoryReactorClock()
        path = Path(r"a:b=c\d").absolute()
        escaped = str(path).replace("\\", "\\\\").replace(":", r"\:").replace("=", r"\=")
        (address,) = parse(f"unix:{escaped}")
        self.successResultOf(make_endpoint(reactor, address).listen(Factory()))
        (server,) = reactor.unixServers
        self.assertEqual((str(path), 0o600, False), (server[0], server[3], server[4]))

    def test_file_that_is_no_socket_stays(self) -> None:
        path = Path("file")
        path.write_text("mine")
        (address,) = parse(f"unix:{path}")
        error = self.assertRaises(StartError, make_endpoint, MemoryReactorClock(), address)
        self.assertIn("is not a socket", str(error))
        self.assertEqual("mine", path.read_text())

    def test_live_socket_stays(self) -> None:
        path = Path("live.sock")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            server.listen()
            (address,) = parse(f"unix:{path}")
            error = self.assertRaises(StartError, make_endpoint, MemoryReactorClock(), address)
        self.assertIn("in use by another process", str(error))


class RealSocketTests(TestCase):
    def test_dead_socket_is_replaced_with_mode_0600(self) -> None:
        path = Path("t.sock")
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
            dead.listen()
        (address,) = parse(f"unix:{path}")
        old = os.umask(0)
        try:
            port = self.successResultOf(
                ensureDeferred(self.listen(address))  # fires at once: nothing to wait for
            )
        finally:
            os.umask(old)
        self.addCleanup(port.stopListening)
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))

    async def listen(self, address: ListenAddress) -> Any:
        return await make_endpoint(global_reactor, address).listen(Factory())
