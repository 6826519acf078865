"""Requests that leave, led astray: a name server that changes its mind, redirects, slow answers.

The name server is a real one on loopback, asked over UDP as libc asks it, a look at a time and
without a cache, behind the same resolver that the daemon uses.  No packet leaves the machine: what
would be public is 127.0.0.2 there, what is out of bounds 127.0.0.3, each with a server that notes
who came; with addresses of the real world the connections are only noted.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet import defer, reactor
from twisted.internet._resolver import GAIResolver
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.interfaces import IReactorTCP, IReactorTime
from twisted.internet.protocol import connectionDone
from twisted.names import dns, server
from twisted.python.failure import Failure
from twisted.trial.unittest import TestCase
from zope.interface import implementer

from tests.event_helpers import make_event
from tests.integration.harness import PATIENCE
from tests.integration.webhook_receivers import (
    MESSAGE,
    ReceiverFactory,
    ReceiverPeer,
    answer_with,
    flood_with,
)
from tests.unit.push.push_browsers import FixedPushSettings, PushBrowser, counted_bytes
from tservice.core.kernel.events import EventHub
from tservice.core.net.egress import GUARDED, PUBLIC_ONLY, EgressPolicy
from tservice.core.net.outbound import (
    OutboundClient,
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.notify.model import DeliveryResult, ReceiverKind, WebhookConfig
from tservice.notify.sender import REDIRECTS, WebhookSender
from tservice.push.keys import load_push_key
from tservice.push.service import PushService
from tservice.push.store import PushSubscriptionStore
from tservice.store.database import Database

GOOD, BAD = "127.0.0.2", "127.0.0.3"
PUBLIC, METADATA = "93.184.216.34", "169.254.169.254"
NAME = "hooks.example.org"
POLICY = GUARDED.with_refused_networks(f"{BAD}/32", "::1/128", rule="is out of bounds here")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
LOOP: Any = reactor


class NameServer:
    """Answers each look for an A record by its script, the last one again and again.

    @ivar looked: how often it was asked for an A record.
    @ivar sixth: what it answers to AAAA.
    """

    def __init__(self, script: Sequence[Sequence[str]], sixth: Sequence[str] = ()) -> None:
        self._script, self.sixth = [list(answer) for answer in script], sixth
        self.looked = 0

    def query(self, query: dns.Query, timeout: object = None) -> defer.Deferred[Any]:
        """As an C{IResolver}."""
        name, records = query.name.name, []
        if query.type == dns.A:
            self.looked += 1
            answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            records = [dns.RRHeader(name, dns.A, ttl=0, payload=dns.Record_A(a)) for a in answer]
        elif query.type == dns.AAAA:
            records = [
                dns.RRHeader(name, dns.AAAA, ttl=0, payload=dns.Record_AAAA(a)) for a in self.sixth
            ]
        return defer.succeed((records, [], []))


def look_up(port: int) -> Any:
    """A C{getaddrinfo} that asks the name server at C{port} each time, in the calling thread."""

    def ask(name: str, kind: int) -> list[str]:
        message = dns.Message(id=7, recDes=1)
        message.addQuery(name.encode(), kind)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.sendto(message.toStr(), ("127.0.0.1", port))
            if not select.select([asking], [], [], PATIENCE)[0]:
                raise socket.gaierror(socket.EAI_AGAIN, "no answer")
            found = dns.Message()
            found.fromStr(asking.recv(4096))
        return [_text(answer, kind) for answer in found.answers]

    def getaddrinfo(name: str, at: int, family: int = 0, kind: int = 0, *rest: Any) -> Any:
        four = [(socket.AF_INET, kind, 6, "", (a, at)) for a in ask(name, dns.A)]
        six = [(socket.AF_INET6, kind, 6, "", (a, at, 0, 0)) for a in ask(name, dns.AAAA)]
        if not four and not six:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [*six, *four]

    return getaddrinfo


def _text(answer: Any, kind: int) -> str:
    if kind == dns.A:
        return str(answer.payload.dottedQuad())
    return socket.inet_ntop(socket.AF_INET6, answer.payload.address)


@implementer(IReactorTCP, IReactorTime)
class RecordingReactor:
    """The reactor, whose connections are noted and never made."""

    def __init__(self) -> None:
        self.connected: list[str] = []

    def connectTCP(self, host: str, *args: Any, **named: Any) -> Any:
        self.connected.append(host)
        return LOOP.connectTCP("127.0.0.1", 9, *args[1:], **named)

    def listenTCP(self, *args: Any, **named: Any) -> Any:
        raise NotImplementedError("it only connects")

    def __getattr__(self, name: str) -> Any:
        return getattr(LOOP, name)


class OutgoingCase(TestCase):
    timeout = 120

    def setUp(self) -> None:
        self.receivers: dict[str, ReceiverFactory] = {}

    async def name_server(
        self, *script: Sequence[str], sixth: Sequence[str] = ()
    ) -> tuple[NameServer, GAIResolver]:
        names = NameServer(script, sixth)
        protocol = dns.DNSDatagramProtocol(server.DNSServerFactory(clients=[names]))
        port = LOOP.listenUDP(0, protocol, interface="127.0.0.1")
        self.addCleanup(port.stopListening)
        return names, GAIResolver(LOOP, getaddrinfo=look_up(port.getHost().port))

    async def listen(self, **behaviours: Any) -> int:
        """Servers on one port of both addresses; what each does stands by its name."""
        port = 0
        for name, host in (("good", GOOD), ("bad", BAD)):
            receiver = self.receivers[name] = ReceiverFactory(behaviours.get(name, answer_with(OK)))
            listening = await TCP4ServerEndpoint(LOOP, port, interface=host).listen(receiver)
            address: Any = listening.getHost()
            port = address.port
            self.addCleanup(listening.stopListening)
            self.addCleanup(self.cut, receiver)
        return int(port)

    def cut(self, receiver: ReceiverFactory) -> None:
        for peer in receiver.connections:
            transport: Any = peer.transport
            transport.abortConnection()

    def visits(self) -> tuple[int, int]:
        """Connections to what is allowed, and to what is not."""
        good, bad = (len(self.receivers[name].connections) for name in ("good", "bad"))
        return good, bad


class HostileWebhookResolutionTests(OutgoingCase):
    """A webhook whose name server is the attacker's."""

    async def deliver(
        self, resolver: Any, port: int, policy: EgressPolicy = POLICY
    ) -> DeliveryResult:
        sender = WebhookSender(LOOP, OutboundClient(LOOP, policy, resolver=resolver))
        webhook = WebhookConfig(kind=ReceiverKind.GENERIC, url=f"http://{NAME}:{port}/hook")
        return await sender.attempt_delivery(webhook, MESSAGE)

    async def test_each_delivery_connects_only_to_its_checked_address(self) -> None:
        """Each delivery looks once, and connects to what it has seen."""
        names, resolver = await self.name_server([GOOD], [BAD], [GOOD])
        port = await self.listen()
        results = [(await self.deliver(resolver, port)).error for _ in range(3)]
        self.assertEqual([None, OutboundFault.REFUSED.value, None], results)
        self.assertEqual((2, 0), self.visits())
        self.assertEqual(3, names.looked)

    async def test_name_with_another_address_at_every_lookup_is_refused(self) -> None:
        for script in ([GOOD, BAD], [BAD, GOOD]):
            _, resolver = await self.name_server(script)
            port = await self.listen()
            found = await self.deliver(resolver, port)
            self.assertEqual(OutboundFault.REFUSED.value, found.error)
            self.assertEqual((0, 0), self.visits())

    async def test_good_a_record_with_a_bad_aaaa_record_is_refused(self) -> None:
        _, resolver = await self.name_server([GOOD], sixth=["::1"])
        port = await self.listen()
        self.assertEqual(OutboundFault.REFUSED.value, (await self.deliver(resolver, port)).error)
        _, resolver = await self.name_server([GOOD], sixth=[f"::ffff:{BAD}"])
        self.assertEqual(OutboundFault.REFUSED.value, (await self.deliver(resolver, port)).error)
        self.assertEqual((0, 0), self.visits())

    async def test_webhook_refuses_private_addresses_of_real_name_servers(self) -> None:
        names, resolver = await self.name_server([PUBLIC], [METADATA], [PUBLIC, METADATA])
        noting: Any = RecordingReactor()
        faults = []
        for _ in range(3):
            try:
                await OutboundClient(noting, resolver=resolver).send(
                    OutboundRequest(url=f"http://{NAME}/")
                )
            except OutboundError as error:
                faults.append(error.fault)
        self.assertEqual([PUBLIC], noting.connected)
        self.assertEqual(
            [OutboundFault.CONNECTION_REFUSED, OutboundFault.REFUSED, OutboundFault.REFUSED], faults
        )
        self.assertEqual(3, names.looked)

    async def test_webhook_redirect_to_a_private_address_is_not_followed(self) -> None:
        _, resolver = await self.name_server([GOOD])
        for status in (301, 302, 303, 307, 308):
            head = f"HTTP/1.1 {status} Over there\r\nContent-Length: 0\r\n"
            port = await self.listen()
            where = f"Location: http://{BAD}:{port}/latest/meta-data\r\nRefresh: 0\r\n\r\n"
            self.receivers["good"].behave = answer_with(f"{head}{where}".encode())
            found = await self.deliver(resolver, port)
            self.assertEqual((False, REDIRECTS), (found.ok, found.error))
            self.assertEqual((1, 0), self.visits())


class DrippingPeer(ReceiverPeer):
    """Never ends its head."""

    def act(self, behave: Any) -> None:
        self.transport.write(b"HTTP/1.1 200 OK\r\n")  # type: ignore[union-attr]
        self.drip()

    def drip(self) -> None:
        if self.transport is not None and self.transport.connected:  # type: ignore[attr-defined]
            self.transport.write(b"X: y\r\n")
            self.later = LOOP.callLater(0.05, self.drip)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if hasattr(self, "later") and self.later.active():
            self.later.cancel()


class HostilePushServiceTests(OutgoingCase):
    """A push service of an attacker's, who is a user like any other."""

    def service(self, resolver: Any, port: int, limit: float = PATIENCE, bare: bool = True) -> None:
        """One browser of one user; with the stand-ins' rules, or the daemon's own and TLS."""
        policy = POLICY if bare else PUBLIC_ONLY
        database = Database.open_in_memory()
        self.addCleanup(database.close)
        self.store, self.hub = PushSubscriptionStore(database), EventHub()
        self.store.save_subscription(PushBrowser(f"https://{NAME}:{port}/x").subscription("ann"))
        self.outcomes: list[OutboundResponse | OutboundError] = []
        outbound = OutboundClient(LOOP, policy, resolver=resolver, time_limit=limit)
        self.done: defer.Deferred[None] = defer.Deferred()

        async def send(request: OutboundRequest) -> OutboundResponse:
            try:
                # What is asked for goes in the open: TLS would end at the receivers' certificates.
                plain = request.url.replace("https://", "http://") if bare else request.url
                reply = await outbound.send(evolve(request, url=plain))
                self.outcomes.append(reply)
            except OutboundError as error:
                self.outcomes.append(error)
                raise
            finally:
                LOOP.callLater(0, self.done.callback, None)
            return reply

        folder = Path(self.mktemp()).absolute()
        folder.mkdir()
        push = PushService(
            clock=LOOP,
            hub=self.hub,
            settings=FixedPushSettings(),
            store=self.store,
            threads=SynchronousThreads(),
            send=send,
            key=load_push_key(folder, counted_bytes),
            name_of=lambda session_id: None,
            active=lambda owner: True,
        )
        push.startService()
        self.addCleanup(push.stopService)

    async def tell(self) -> OutboundResponse | OutboundError:
        """Have a message sent; what came of it."""
        self.done = defer.Deferred()
        self.hub.publish(make_event("session:stop", session_id="s1", owner="ann"))
        await self.done
        return self.outcomes[-1]

    def kept(self) -> int:
        return len(self.store.list_subscriptions())

    async def test_push_name_that_later_resolves_to_a_private_address_is_refused(self) -> None:
        """It passes when it is registered and at the first message, and is forgotten then."""
        _, resolver = await self.name_server([GOOD], [BAD])
        port = await self.listen()
        self.service(resolver, port)
        self.assertIsInstance(await self.tell(), OutboundResponse)
        self.assertEqual(1, self.kept())
        self.assertIsInstance(await self.tell(), OutboundError)
        self.assertEqual((1, 0), self.visits())
        self.assertEqual(0, self.kept())

    async def test_push_name_of_a_private_address_is_never_called(self) -> None:
        """Under the rules that the daemon gives it: whatever is not public is never called."""
        for address in ("127.0.0.1", "10.0.0.1", METADATA, "192.168.1.1", "100.64.0.1", "0.0.0.0"):
            _, resolver = await self.name_server([address])
            port = await self.listen()
            self.service(resolver, port, bare=False)
            found = await self.tell()
            assert isinstance(found, OutboundError)
            self.assertEqual(OutboundFault.REFUSED, found.fault, address)
            self.assertEqual(0, self.kept())
            self.assertEqual((0, 0), self.visits())

    async def test_push_redirect_to_a_private_address_is_not_followed(self) -> None:
        _, resolver = await self.name_server([GOOD])
        port = await self.listen()
        where = f"Location: http://{BAD}:{port}/\r\nContent-Length: 0\r\n\r\n"
        self.receivers["good"].behave = answer_with(f"HTTP/1.1 307 x\r\n{where}".encode())
        self.service(resolver, port)
        found = await self.tell()
        assert isinstance(found, OutboundResponse)
        self.assertEqual(307, found.status)
        self.assertEqual((1, 0), self.visits())

    async def test_huge_push_answer_is_bounded(self) -> None:
        """The connection ends behind the head, or at its bound."""
        _, resolver = await self.name_server([GOOD])
        head = b"HTTP/1.1 201 Created\r\nContent-Length: 99999999999\r\n\r\n"
        for begin, kind in ((head, OutboundResponse), (b"HTTP/1.1 201 Created\r\n", OutboundError)):
            port = await self.listen(good=flood_with(begin, b"x" * 65536))
            self.service(resolver, port)
            self.assertIsInstance(await self.tell(), kind)

    async def test_slow_push_answer_times_out(self) -> None:
        """Whatever drips in, the whole has one time limit."""
        _, resolver = await self.name_server([GOOD])
        port = await self.listen()
        self.receivers["good"].buildProtocol = lambda addr: self.dripping()  # type: ignore
        self.service(resolver, port, limit=0.5)
        found = await self.tell()
        assert isinstance(found, OutboundError)
        self.assertEqual(OutboundFault.TIMED_OUT, found.fault)
        self.assertEqual(1, self.kept())

    def dripping(self) -> DrippingPeer:
        drip = DrippingPeer()
        drip.factory = self.receivers["good"]
        return drip
