"""Drives a real site over memory: bytes in, parsed answers out, time by a Clock."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from http.client import HTTPResponse
from io import BytesIO
from typing import Any

from attrs import evolve, frozen
from twisted.internet.address import IPv4Address
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from zope.interface import implementer

from tests.declared_answers import check_operations
from tservice.core.callers.authentication import AuthenticationRequest, CredentialsAccepted
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.http.envelope import HttpResponse
from tservice.http.kernel import CallListener, HttpKernel, IGate, IPages, IUpgrades
from tservice.http.operations import Operation, OperationCall
from tservice.http.request import ServiceRequest
from tservice.http.site import HttpSite


@implementer(IGate)
class OpenGate:
    """Lets everybody in, as C{identity}."""

    def __init__(self, identity: Identity | None = None) -> None:
        self.identity = identity or Identity(username="admin", admin=True)

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        return AuthenticationRequest(
            method=method,
            path=path,
            host="localhost",
            address="127.0.0.1",
            secure=False,
            upgrade=False,
            header=request.getHeader,
            cookies=lambda name: (),
        )

    async def identify_caller(
        self, visit: AuthenticationRequest, operation: Operation | None
    ) -> CredentialsAccepted:
        return CredentialsAccepted(identity=self.identity)

    def authorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation | None,
        path: Mapping[str, str],
    ) -> None:
        pass

    def reauthorize_call(
        self,
        visit: AuthenticationRequest,
        who: Identity,
        operation: Operation,
        path: Mapping[str, str],
    ) -> None:
        pass

    def get_headers(self, visit: AuthenticationRequest | None) -> Mapping[str, str]:
        return {}


@implementer(IPages)
class NoPages:
    """A checkout without a built UI, and without the page that says so."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        return None


@implementer(IUpgrades)
class NoSockets:
    """For tables without a WebSocket in them."""

    async def serve_socket(self, call: OperationCall) -> None:
        raise AssertionError("no socket was expected")

    async def refuse_socket(self, request: ServiceRequest, error: ServiceError) -> None:
        raise AssertionError("no socket was expected")


class MemoryTransport(StringTransport):
    """A StringTransport that also notes an abort."""

    aborted = False

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__(peerAddress=IPv4Address("TCP", host, 54321))

    def abortConnection(self) -> None:
        self.aborted = True
        super().abortConnection()


@frozen
class ParsedAnswer:
    """A parsed answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def data(self) -> Any:
        """The payload of a success."""
        found = self.json()
        assert found["success"] is True, found
        return found["data"]

    @property
    def error(self) -> tuple[int, str, str]:
        """Status, code and text of an error envelope."""
        found = self.json()
        assert found["success"] is False, found
        return self.status, found["errorCode"], found["error"]


class _DriverSocket:
    def __init__(self, data: bytes) -> None:
        self._file = BytesIO(data)

    def makefile(self, mode: str) -> BytesIO:
        return self._file


def parse_http_answer(data: bytes, method: str = "GET") -> ParsedAnswer:
    """One complete HTTP answer."""
    found = HTTPResponse(_DriverSocket(data), method=method)  # type: ignore[arg-type]
    found.begin()
    headers = {name.lower(): value for name, value in found.getheaders()}
    return ParsedAnswer(found.status, headers, found.read())


def request_head(method: str, path: str, headers: Mapping[str, str]) -> bytes:
    """The head of a request; C{Host} unless given; half a surrogate pair stands for a raw byte."""
    named = {"Host": "localhost", **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in named.items())]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


class SiteConnection:
    """One client connection to a site."""

    _lost = False

    def __init__(self, site: HttpSite, transport: MemoryTransport) -> None:
        self.transport = transport
        self.channel = site.buildProtocol(transport.getPeer())
        self.channel.makeConnection(self.transport)

    def send(self, data: bytes) -> None:
        self.channel.dataReceived(data)

    def value(self) -> bytes:
        data: bytes = self.transport.value()
        return data

    @property
    def producer(self) -> Any:
        """Whoever fills the transport: a client that stops reading pauses it."""
        return self.transport.producer

    def lose(self) -> None:
        """End the connection; may be called twice."""
        if not self._lost:
            self._lost = True
            self.channel.connectionLost(Failure(ConnectionDone()))


class ApiHarness:
    """A site that serves C{operations}, and its clock."""

    def __init__(
        self,
        operations: Iterable[Operation] = (),
        gate: IGate | None = None,
        pages: IPages | None = None,
        sockets: IUpgrades | None = None,
        base_path: str = "",
        clock: Any = None,
        heard: CallListener = lambda call, outcome: None,
        **site: Any,
    ) -> None:
        self.clock = clock or Clock()
        self.kernel = HttpKernel(
            check_operations(operations),
            gate or OpenGate(),
            pages or NoPages(),
            sockets or NoSockets(),
            base_path,
            heard,
        )
        self.site = HttpSite(self.kernel, self.clock, **site)
        self._open: list[SiteConnection] = []

    def connect(
        self, host: str = "127.0.0.1", transport: MemoryTransport | None = None
    ) -> SiteConnection:
        connection = SiteConnection(self.site, transport or MemoryTransport(host))
        self._open.append(connection)
        return connection

    def close(self) -> None:
        """End every connection."""
        for connection in self._open:
            connection.lose()

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        host: str = "127.0.0.1",
    ) -> ParsedAnswer:
        """One request on a connection of its own.

        @param body: bytes as they are, anything else as JSON.
        """
        named = dict(headers or {})
        content = b""
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            named.setdefault("Content-Type", "application/json")
            named["Content-Length"] = str(len(content))
        connection = self.connect(host)
        connection.send(request_head(method, path, named) + content)
        if not connection.value():
            self.clock.advance(0)  # a long body is read in two turns
        answer = parse_http_answer(connection.value(), method)
        connection.lose()
        return answer

    def get(self, path: str, **headers: str) -> ParsedAnswer:
        return self.request("GET", path, headers=headers)

    def post(self, path: str, body: object) -> ParsedAnswer:
        return self.request("POST", path, body)


def run_turn(clock: Clock) -> None:
    """One turn of the reactor: a Clock would also do what is added meanwhile."""
    for call in [call for call in clock.calls if call.getTime() <= clock.seconds()]:
        work = partial(call.func, *call.args, **call.kw)
        call.cancel()
        work()


class UpgradeGate(OpenGate):
    """Lets everybody in and sees upgrades; refuses or forbids when told to."""

    refusal: Exception | None = None
    forbid: ServiceError | None = None
    set_cookie: str | None = None

    def check_host_and_origin(
        self, request: ServiceRequest, method: str, path: str | None
    ) -> AuthenticationRequest:
        if self.refusal is not None:
            raise self.refusal
        visit = super().check_host_and_origin(request, method, path)
        asked = (request.getHeader("upgrade") or "").lower() == "websocket"
        return evolve(visit, upgrade=asked)

    def authorize_call(self, *args: object) -> None:
        if self.forbid is not None:
            raise self.forbid
