"""Sessions and model endpoints on fakes; a server that answers what a test says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import ILogObserver, LogEvent, formatEvent, globalLogPublisher
from zope.interface import provider

from tests.unit.http.site_driver import ApiHarness, OpenGate, ParsedAnswer
from tests.unit.sessions.harness import ADMIN, SessionCase, SessionHarness, start_coroutine
from tservice.core.config.model import Config
from tservice.core.kernel.late_binding import LateBinding
from tservice.core.logs.redact import SecretRedactor
from tservice.core.net.outbound import (
    OutboundError,
    OutboundFault,
    OutboundRequest,
    OutboundResponse,
)
from tservice.http.operation_decorator import collect_operations
from tservice.models.build import build_models
from tservice.models.service import ModelService
from tservice.sessions.routes.lifecycle_routes import LifecycleRoutes
from tservice.settings.model import parse_stored_settings

KEY = "sk-0123456789-0123456789"
URL = "http://127.0.0.1:8080"


class ModelServer:
    """A model server.

    @ivar replies: a status and a body, by URL; what is not there does not answer.
    @ivar asked: what it was asked.
    @ivar held: set, the next question waits for it.
    """

    def __init__(self) -> None:
        self.replies: dict[str, tuple[int, bytes]] = {}
        self.asked: list[OutboundRequest] = []
        self.held: Deferred[None] | None = None

    async def send(self, request: OutboundRequest) -> OutboundResponse:
        self.asked.append(request)
        if self.held is not None:
            held, self.held = self.held, None
            await held
        if request.url not in self.replies:
            raise OutboundError(OutboundFault.CONNECTION_REFUSED)
        status, body = self.replies[request.url]
        return OutboundResponse(status=status, headers={}, body=body)

    def offers(self, **models: int | None) -> None:
        data = [{"id": name, "context_length": length} for name, length in models.items()]
        self.replies[f"{URL}/v1/models"] = (200, json.dumps({"data": data}).encode())

    def runs(self, *models: str) -> None:
        data = {"running": [{"model": name, "state": "ready"} for name in models]}
        self.replies[f"{URL}/running"] = (200, json.dumps(data).encode())


class ModelCase(SessionCase):
    """The routes of both, for an admin."""

    multiuser = False

    def setUp(self) -> None:
        late: LateBinding[ModelService] = LateBinding("models")
        folder = Path(self.mktemp()).absolute()
        config = Config(
            data_dir=folder / "data", cases_dir=folder / "cases", multiuser=self.multiuser
        )
        self.machine = SessionHarness(folder, config=config, models=late)
        self.machine.config.data_dir.mkdir(parents=True)
        self.clock, self.host = self.machine.clock, self.machine.host
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.server, self.redactor = ModelServer(), SecretRedactor()
        self.switch(True)
        self.feature = self.built()
        self.models = late.bind_value(self.feature.service)
        self.run_now(self.models.start())
        operations = [*collect_operations(LifecycleRoutes(self.sessions)), *self.feature.operations]
        self.gate = OpenGate(ADMIN)
        self.logged: list[str] = []

        @provider(ILogObserver)
        def observer(event: LogEvent) -> None:
            self.logged.append(formatEvent(event))

        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        self.api = ApiHarness(operations, gate=self.gate, clock=self.clock)
        self.addCleanup(self.api.close)

    def built(self) -> Any:
        ground = self.machine.ground(redactor=self.redactor)
        return build_models(
            ground, clis=self.machine.clis, sessions=self.sessions, post=self.server
        )

    def switch(self, on: bool) -> None:
        self.machine.settings.now = parse_stored_settings({"customModelEndpointsEnabled": on})[0]

    def endpoint(self, **fields: Any) -> Any:
        body = {"label": "here", "baseUrl": URL, "apiKey": KEY, **fields}
        return self.api.post("/api/model-endpoints", body).data["endpoint"]

    def make(self, mode: str = "primary", **custom: Any) -> ParsedAnswer:
        body = {"mode": mode, "start": True, "customModel": custom}
        return self.api.post("/api/sessions", body)

    def assert_error(self, status: int, word: str, answer: ParsedAnswer) -> None:
        code, _, text = answer.error
        self.assertEqual(status, code, text)
        self.assertIn(word, text)


__all__ = ["ADMIN", "KEY", "URL", "ModelCase", "ModelServer", "start_coroutine"]
