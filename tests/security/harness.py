"""The whole service as the daemon assembles it, on memory and fake panes.

Only what stands outside is replaced: the reactor by a clock, tmux by the fake multiplexer, ports
by in-memory connections.  The operations table is the real one, so nothing can be forgotten.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from shutil import rmtree
from typing import Any
from unittest.mock import patch

from attrs import evolve, frozen
from twisted.internet.task import Clock

from tests.declared_answers import check_operations
from tests.fakes.multiplexer.multiplexer import FakeHost, FakeMultiplexer
from tests.unit.http.gate_harness import basic_headers
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, _DriverSocket, request_head
from tests.unit.http.websockets.ws_frames import UPGRADE, read_frames
from tservice.access import build as building
from tservice.access import credentials
from tservice.access.accounts.accounts import AccountService
from tservice.access.capabilities import CapabilityRegistry
from tservice.access.passwords.hashing import FairPasswordHasher
from tservice.core.config.model import Config
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.service_stack import ServiceStack
from tservice.core.locations.workspace_bounds import get_account_folder
from tservice.core.logs.redact import SecretRedactor
from tservice.core.workers.worker_pool import SynchronousThreads, WorkerPools
from tservice.http import build as building_http
from tservice.http.kernel import HttpKernel
from tservice.http.operations import Operation
from tservice.http.site import HttpSite
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.launch_context import LaunchContext
from tservice.runtime.os_user_wiring import OsUserWiring
from tservice.store.database import Database
from tservice.tap import assembly, runtime_setup

PASSWORD = "correct horse"
HOST, CROSS = "Forbidden: host not allowed", "Forbidden: cross-site request blocked"
SOON = 1_800_000_000.0
VOLATILE = {"audit_log": None, "api_tokens": "last_used_at", "auth_sessions": "expires_at"}
"""Tables that a refusal may write to, and what of them; C{None}: all."""


class WorldClock(Clock):
    """A reactor as far as time goes."""

    def callWhenRunning(self, work: Callable[..., object], *args: Any) -> None:
        work(*args)

    def spawnProcess(self, *args: Any, **kwargs: Any) -> None:
        """Refuse to run a program.

        @raise OSError: always.
        """
        raise PermissionError("no programs in this world")


class _NoDoors(WorkerPools):
    """Threads would outlive the test."""

    def __init__(self, program: LaunchContext, os_users: OsUserWiring, stack: ServiceStack) -> None:
        super().__init__(program.reactor)
        for door in self.all_pools:
            door.run = SynchronousThreads().run  # type: ignore[method-assign]


@frozen
class SecurityAnswer:
    """What came back; C{code} is the close code of a WebSocket."""

    status: int
    headers: Mapping[str, str]
    body: str
    code: int | None = None

    @property
    def error(self) -> str | None:
        """The C{errorCode} of an envelope."""
        if not self.headers.get("content-type", "").startswith("application/json"):
            return None
        found: str | None = json.loads(self.body).get("errorCode")
        return found


def _checked_kernel(table: Iterable[Operation], *rest: Any) -> HttpKernel:
    return HttpKernel(check_operations(table), *rest)


class SecurityHarness:
    """A multi-user service: C{root} is an admin, C{ann}, C{bob} and C{flag} are not.

    @ivar cookies: a cookie of each of them.
    @ivar session: a running session of ann's.
    """

    def __init__(self, folder: Path | None = None, **config: Any) -> None:
        """@param folder: of one that was stopped."""
        self.folder = folder or Path(tempfile.mkdtemp(prefix="tw"))
        self.clock = WorldClock()
        self.clock.advance(SOON)
        self.host = FakeHost(self.clock)
        self.stack = ServiceStack(self.clock)
        self.cookies: dict[str, str] = {}
        self._addresses = 0
        given = {"multiuser": True, "password": PASSWORD, "username": "root", **config}
        self.config = Config(
            data_dir=self.folder, cases_dir=self.folder / "cases", allowed_hosts=(), **given
        )
        self._assemble()

    def _assemble(self) -> None:
        kept: dict[str, Any] = {}

        def keep(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
            def made(*args: Any, **kwargs: Any) -> Any:
                kept[name] = make(*args, **kwargs)
                return kept[name]

            return made

        mux = FakeMultiplexer(self.clock, self.host)
        self.stack.startService()
        with (
            patch.object(
                assembly, "build_mux", lambda *_: FeatureRegistration(name="mux", service=mux)
            ),
            patch.object(runtime_setup, "start_worker_pools", _NoDoors),
            patch.object(building_http, "HttpSite", keep("site", HttpSite)),
            patch.object(building_http, "HttpKernel", _checked_kernel),
            patch.object(
                runtime_setup, "open_database", keep("store", runtime_setup.open_database)
            ),
            patch.object(runtime_setup, "EventHub", keep("hub", EventHub)),
            patch.object(
                building, "FairPasswordHasher", partial(FairPasswordHasher, memory_kib=8, passes=1)
            ),
            patch.object(building, "AccountService", keep("accounts", AccountService)),
            patch.object(
                credentials, "CapabilityRegistry", keep("capabilities", CapabilityRegistry)
            ),
        ):
            assembly.assemble_program(self._program(), self.stack)
        self.site: HttpSite = kept["site"]
        self.database: Database = kept["store"]
        self.hub: EventHub = kept["hub"]
        self.accounts: AccountService | None = kept.get("accounts")
        self.capabilities: CapabilityRegistry = kept["capabilities"]

    def _program(self) -> LaunchContext:
        return LaunchContext(
            reactor=self.clock,
            config=self.config,
            environ={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8"},
            home=self.folder,
            redactor=SecretRedactor(),
        )

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The real table."""
        return self.site.kernel.table.operations

    def populate(self) -> None:
        """Make the people, a cookie for each, and ann's session."""
        self.cookies["root"] = self.sign_in("root")
        for name in ("ann", "bob", "flag"):
            body = {"username": name, "password": PASSWORD, "canBypassPermissions": True}
            self.good("root", "POST", "/api/admin/users", body)
            self.cookies[name] = self.sign_in(name)
        assert self.accounts is not None
        self.accounts._save_account(
            evolve(self.accounts.get_account("flag"), must_change_password=True)
        )
        self.cookies["flag"] = self.sign_in("flag")
        self.good("root", "PUT", "/api/settings", {"customModelEndpointsEnabled": True})
        wanted = {"mode": "shell", "start": True, "name": "ann's own"}
        made = self.good("ann", "POST", "/api/sessions", wanted)
        self.session: str = made["session"]["id"]

    def timed_run(self, name: str) -> str:
        """A timed run of that user's, ended at once, and its session with it."""
        agent = self.folder / ".local" / "bin" / "claude"
        agent.parent.mkdir(parents=True, exist_ok=True)
        agent.write_text("#!/bin/sh\n")
        agent.chmod(0o755)
        body = {"prompt": "go on", "durationMinutes": 5, "workingDir": str(self.cases(name))}
        made = self.good(name, "POST", "/api/scheduled", body)["run"]
        self.good(name, "DELETE", f"/api/scheduled/{made['id']}")
        self.good(name, "DELETE", f"/api/sessions/{made['sessionId']}")
        found: str = made["id"]
        return found

    def cases(self, name: str) -> Path:
        """Where that user's sessions work."""
        account = None if self.accounts is None else self.accounts.find_account_id(name)
        assert account is not None, name
        folder = get_account_folder(self.config.cases_dir, account)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def sign_in(self, name: str) -> str:
        """A new cookie of a program's, which works alone."""
        answer = self.ask("GET", "/api/me", headers=basic_headers(name, PASSWORD))
        assert answer.status == 200, answer
        return cookie_of(answer)

    def page(self, name: str, password: str = PASSWORD) -> dict[str, str]:
        """What a page shows that was signed in with its form: the cookie and the key."""
        answer = self.ask("POST", "/api/login", {"username": name, "password": password})
        assert answer.status == 200, answer
        key = json.loads(answer.body)["data"]["key"]
        return {"Cookie": cookie_of(answer), "X-Service-Key": key}

    def good(self, name: str, method: str, path: str, body: object = None) -> Any:
        """The payload of what must succeed."""
        answer = self.ask(method, path, body, {"Cookie": self.cookies[name]})
        assert answer.status == 200, answer
        return json.loads(answer.body)["data"]

    def token(self, name: str, *scopes: str, **fields: Any) -> dict[str, str]:
        """The header of a new token."""
        wanted = {"name": "t", "scopes": scopes, **fields}
        made = self.good(name, "POST", "/api/tokens", wanted)
        return {"Authorization": f"Bearer {made['token']}"}

    def address(self) -> str:
        """One that nobody has failed from."""
        self._addresses += 1
        return f"10.{self._addresses >> 16}.{self._addresses >> 8 & 255}.{self._addresses & 255}"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        address: str | None = None,
        socket: bool = False,
    ) -> SecurityAnswer:
        """One request on a connection of its own, cut as soon as it had the time to answer."""
        named = dict(headers or {})
        content = b""
        if socket:
            named = {**UPGRADE, **named}
        elif body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            named.setdefault("Content-Type", "application/json")
            named["Content-Length"] = str(len(content))
        transport = MemoryTransport(address or self.address())
        connection = SiteConnection(self.site, transport)
        connection.send(request_head(method, path, named) + content)
        data = connection.value()
        if not data:
            self.clock.advance(1)
            data = connection.value()
        answer = parse_http_answer(data, method)
        connection.lose()
        return answer

    def snapshot(self) -> object:
        """Everything that a refused request must leave as it is."""
        panes = {
            name: (pane.ending, pane.is_gone, pane.cols, pane.rows, bytes(pane.typed), [*pane.keys])
            for name, pane in self.host.panes.items()
        }
        files = {path.name: path.read_bytes() for path in self.folder.glob("*.json")}
        return panes, files, tuple(_rows(self.database))

    def close(self) -> None:
        """End it, and remove its folder."""
        self.stop()
        rmtree(self.folder)

    def stop(self) -> None:
        """End it."""
        stopped = self.stack.stopService()
        for _ in range(20):
            self.clock.advance(1)
        assert stopped.called


@contextmanager
def populated_harness(**config: Any) -> Iterator[SecurityHarness]:
    """A populated one."""
    made = SecurityHarness(**config)
    try:
        made.populate()
        yield made
    finally:
        made.close()


def cookie_of(answer: SecurityAnswer) -> str:
    """The cookie that an answer sets, as it is sent back."""
    return answer.headers["set-cookie"].partition(";")[0]


def parse_http_answer(data: bytes, method: str) -> SecurityAnswer:
    """The status, the headers, and as much of the body as is there."""
    if not data:
        return SecurityAnswer(0, {}, "")
    top, _, rest = data.partition(b"\r\n\r\n")
    found = HTTPResponse(_DriverSocket(top + b"\r\n\r\n"), method=method)  # type: ignore[arg-type]
    found.begin()
    headers = {name.lower(): value for name, value in found.getheaders()}
    if found.status == 101:
        codes = [frame.code for frame in read_frames(rest) if frame.first == 0x88]
        return SecurityAnswer(101, headers, "", codes[0] if codes else None)
    return SecurityAnswer(found.status, headers, rest.decode("utf-8", "replace"))


def _rows(database: Database) -> Iterator[tuple[Any, ...]]:
    names = database.query_rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    for (table,) in names:
        volatile = VOLATILE.get(table, "")
        if volatile is None:
            continue
        for row in database.query_rows(f"SELECT * FROM {table}"):
            yield (table, *(value for key, value in dict(row).items() if key != volatile))
