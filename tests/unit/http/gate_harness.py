"""A site behind a real gate and the real authenticators, for tests."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, cast

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.unit.access.harness import cheap_hasher
from tests.unit.http.sample_operations import sample_operation
from tests.unit.http.site_driver import ApiHarness, ParsedAnswer
from tservice.access.authenticators import (
    BasicAuthenticator,
    CookieAuthenticator,
    HookAuthenticator,
    OpenAccessAuthenticator,
)
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import MemoryCookieStore
from tservice.access.passwords.failures import FailureCounter
from tservice.access.passwords.passwords import SingleAccount
from tservice.access.passwords.sign_in import KnownAddresses, PasswordChecker
from tservice.access.routes import AccessRoutes
from tservice.core.callers.authentication import (
    AuthenticationRequest,
    CredentialsAccepted,
    IAuthenticator,
    SignInRule,
    Verdict,
)
from tservice.core.callers.identity import Identity
from tservice.core.config.model import Config
from tservice.http.envelope import HttpResponse
from tservice.http.gate import AccessGate, make_gate_rules
from tservice.http.kernel import IPages
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule, Operation, OperationCall, ResponseStyle
from tservice.http.websockets.upgrade import WebSockets

SECRET = "5" * 64
PAGE = HttpResponse(status=200, content=b"<form>", content_type="text/html; charset=utf-8")
TOO_MANY = "Too Many Requests — try again later".encode()


def basic_headers(username: str = "admin", password: str = "right") -> dict[str, str]:
    word = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


@implementer(IPages)
class GatePages:
    """One public asset, one page."""

    def find_page(self, path: str, visit: AuthenticationRequest) -> HttpResponse | None:
        if path == "/assets/x-1234.js":
            return HttpResponse(
                status=200, content=b"js", content_type="text/javascript", public=True
            )
        return PAGE if path in ("/", "/login") else None


@implementer(IAuthenticator)
class NamedAuthenticator:
    """Believes the X-User header: stands for accounts, tokens and what else may come."""

    flagged = False
    changed: Callable[[Identity], Identity | None] = staticmethod(lambda identity: identity)

    async def authenticate(self, visit: AuthenticationRequest) -> Verdict:
        name = visit.header("x-user")
        if name is None:
            return None
        return CredentialsAccepted(
            identity=Identity(
                username=name,
                admin=name == "root",
                can_bypass_permissions=True,
                must_change_password=self.flagged,
            )
        )

    def reauthorize_identity(self, identity: Identity) -> Identity | None:
        return None if identity.auth_session is not None else self.changed(identity)


class GateCase(SynchronousTestCase):
    """A site behind a real gate."""

    config = Config(password="right", allowed_hosts=("box.example",))
    address = "127.0.0.1"

    def setUp(self) -> None:
        self.clock = Clock()
        self.numbers = 0
        self.owners = {"mine": "ann", "theirs": "bob"}
        self.named = NamedAuthenticator()
        self.failures = FailureCounter(self.clock)
        self.store = MemoryCookieStore()
        self.revoked: list[frozenset[str]] = []
        self.cookies = CookieSessionRegistry(
            self.store, self.clock, self.random, self.revoked.append
        )
        self.known_addresses = KnownAddresses(self.clock)
        self.account: SingleAccount | None = None
        self.passwords: PasswordChecker | None = None
        if self.config.password is not None:
            self.account = SingleAccount(self.config.username, self.config.password, cheap_hasher())
            self.passwords = PasswordChecker(
                self.account, self.failures, self.known_addresses, self.clock
            )
        routes = AccessRoutes(self.cookies, self.passwords, self.config.username, False)
        self.gate = gate = AccessGate(
            make_gate_rules(self.config, ["bound.example"], lambda: ["tunnel.example"]),
            self.authenticators(),
            HookAuthenticator(SECRET),
            self.failures,
            self.owners.get,
            lambda: PAGE,
        )
        table = collect_operations(routes) + self.table()
        self.api = ApiHarness(table, gate, GatePages(), WebSockets(self.clock), clock=self.clock)
        self.addCleanup(self.api.close)

    def authenticators(self) -> list[IAuthenticator]:
        if self.account is None or self.passwords is None:
            return [OpenAccessAuthenticator(self.config.username, SignInRule(is_required=False))]
        return [
            CookieAuthenticator(self.cookies, self.account),
            BasicAuthenticator(self.cookies, self.account, self.passwords),
            self.named,
        ]

    def random(self, size: int) -> bytes:
        self.numbers += 1
        return self.numbers.to_bytes(size, "big")

    async def who(self, call: OperationCall) -> object:
        return {"user": call.caller.username, "by": call.caller.method}

    async def known(self, call: OperationCall) -> object:
        who = await self.gate.identify_optional(cast(Any, call.request).visit)
        return {"user": None if who is None else who.username}

    def table(self) -> list[Operation]:
        return [
            sample_operation("GET", "/api/who", self.who),
            sample_operation("POST", "/api/who", self.who),
            sample_operation(
                "GET", "/healthz", self.who, access=AccessRule.PUBLIC, style=ResponseStyle.RAW
            ),
            sample_operation("POST", "/api/hook-event", self.who, access=AccessRule.HOOK),
            sample_operation("GET", "/api/admin", self.who, access=AccessRule.ADMIN),
            sample_operation("GET", "/api/sessions/{id}", self.who, access=AccessRule.OWNER),
            sample_operation("GET", "/q/{code}", self.who, access=AccessRule.CAPABILITY),
            sample_operation("GET", "/tab/{code}", self.known, access=AccessRule.CAPABILITY),
            sample_operation(
                "GET", "/ws/{id}", self.who, access=AccessRule.OWNER, style=ResponseStyle.WEBSOCKET
            ),
        ]

    def ask(
        self,
        headers: dict[str, str] | None = None,
        path: str = "/api/who",
        method: str = "GET",
        body: object = None,
    ) -> ParsedAnswer:
        return self.api.request(method, path, body, headers, host=self.address)

    def assertBare(self, status: int, text: str, answer: ParsedAnswer) -> None:
        self.assertEqual((status, text), (answer.status, answer.content.decode()))
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))

    def page(self, signed_in: ParsedAnswer) -> dict[str, str]:
        """What the page shows that the answer to a login came to."""
        cookie = signed_in.headers["set-cookie"].partition(";")[0]
        return {"Cookie": cookie, "X-Service-Key": signed_in.data["key"]}

    def login(self, password: str = "right", **headers: str) -> ParsedAnswer:
        body = {"username": "admin", "password": password}
        return self.ask(headers, "/api/login", "POST", body)
