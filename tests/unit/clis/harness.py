"""What tests of managing the registry share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import make_caller
from tests.event_helpers import to_wire
from tests.fakes.child_processes import FakeProcesses
from tests.runtime_harness import own_location, places_of
from tests.unit.clis.fakes import FakeSettings
from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.cli_versions import CliVersionReader
from tservice.clis.installer import Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.responses import CliItem
from tservice.clis.routes import CliRoutes
from tservice.clis.service import CliService
from tservice.clis.sign_in import SignInReader
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import Event, EventHub
from tservice.core.workers.reachability import AlwaysReachable
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import Operation, OperationCall
from tservice.http.validation.models import QueryParameters

MINE = {"id": "mine", "label": "Mine", "shortBadge": "MY", "binaries": ["mine"], "argv": ["mine"]}
REST = {name: value for name, value in MINE.items() if name != "id"}


class CliServiceCase(SynchronousTestCase):
    """A service with its folder; calls go through the operations, as the site would make them."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.root.mkdir()
        self.path = self.root / "clis.json"
        self.clock, self.processes, self.hub = Clock(), FakeProcesses(), EventHub()
        self.settings = FakeSettings(cliManagementEnabled=True)
        self.environ = {"PATH": str(self.root / "bin"), "SERVICE_PASSWORD": "hidden"}
        self.events: list[Event] = []
        self.hub.subscribe(self.events.append)
        self.processes.obeys_kill = False
        self.start()

    def start(self) -> None:
        lookup = BinaryLookup(self.clock, self.environ, self.root)
        self.registry = CliRegistry(settings=self.settings, lookup=lookup, environ=self.environ)
        self.installer = Installer(
            clock=self.clock,
            children=self.processes.make_runner(self.clock),
            environ=self.environ,
            home=self.root,
            hub=self.hub,
            path_of=lookup.build_program_path,
            locate=self.where,
        )
        self.service = CliService(
            path=self.path,
            stock=load_stock_entries(),
            registry=self.registry,
            lookup=lookup,
            installer=self.installer,
            home=self.root,
            versions=CliVersionReader(
                clock=self.clock,
                children=self.processes.make_runner(self.clock),
                environ=self.environ,
                home=self.root,
                path_of=lookup.build_program_path,
            ),
            settings=self.settings,
            hub=self.hub,
        )
        self.service.load()
        own = own_location(self.root, **self.environ)
        sign_ins = SignInReader(
            list_entries=self.registry.list_entries,
            locations=places_of(own),
            threads=SynchronousThreads(),
            reach=AlwaysReachable(),
        )
        self.operations = collect_operations(CliRoutes(self.service, sign_ins))

    def where(self, name: str) -> Path | None:
        path = self.root / "bin" / name
        return path if path.exists() else None

    def operation(self, method: str, path: str) -> Operation:
        found = [o for o in self.operations if (o.method, o.path) == (method, path)]
        self.assertEqual(1, len(found), (method, path))
        return found[0]

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        id: str = "",
        admin: bool = True,
        query: QueryParameters | None = None,
    ) -> Deferred[Any]:
        operation = self.operation(method, path)
        parsed = operation.body.model_validate_json(json.dumps(body)) if operation.body else None
        request: Any = None
        call = OperationCall(
            operation=operation,
            caller=make_caller(username="u", admin=admin),
            path={"id": id},
            query=query,
            body=parsed,
            address="127.0.0.1",
            request=request,
        )
        answer: Deferred[Any] = Deferred.fromCoroutine(operation.handler(call))  # type: ignore[arg-type]
        return answer.addCallback(to_wire)

    def ok(self, *args: Any, **named: Any) -> Any:
        return self.successResultOf(self.call(*args, **named))

    def refused(self, code: ErrorCode, *args: Any, **named: Any) -> str:
        """The error's text; the file stays as it is and nobody is told anything."""
        before = (self.path.read_bytes() if self.path.exists() else None, len(self.events))
        failure = self.failureResultOf(self.call(*args, **named), ServiceError)
        after = (self.path.read_bytes() if self.path.exists() else None, len(self.events))
        self.assertEqual((code, before), (failure.value.code, after))
        return str(failure.value.message)

    def stored(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_text())["clis"]
        return found

    def item(self, name: str) -> dict[str, Any]:
        [found] = [item for item in self.ok("GET", "/api/clis") if item["id"] == name]
        CliItem.model_validate_json(json.dumps(found))
        return dict(found)


WRITES: list[tuple[str, str, object, str]] = [
    ("PUT", "/api/clis/{id}", {"enabled": False}, "codex"),
    ("POST", "/api/clis/{id}/install", None, "codex"),
    ("DELETE", "/api/clis/{id}/install", None, "codex"),
    ("POST", "/api/clis", MINE, ""),
    ("PUT", "/api/clis/custom/{id}", REST, "mine"),
    ("DELETE", "/api/clis/{id}", None, "mine"),
]
