"""A server that does what Codex 0.169.0 and 0.171.0 do with a second client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tservice.agents.channels.codex.connection import ServerConnection, ServerListener

THREAD = "01a2240d-0f08-7a12-81b8-2feafd2a18c9"
DECISIONS = ["accept", {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": []}}, "cancel"]


class PlayedConnection:
    """One client's end."""

    def __init__(self, server: PlayedServer, listener: ServerListener) -> None:
        self.server, self.listener = server, listener
        self.ready = False
        self.joined: set[str] = set()
        self.unwanted: frozenset[str] = frozenset()

    def send_message(self, payload: bytes) -> None:
        self.server.take(self, json.loads(payload))

    def abort_connection(self) -> None:
        self.server.lose(self)

    def tell(self, **message: Any) -> None:
        if message.get("method") not in self.unwanted:
            self.listener.message_received(json.dumps(message).encode())


class PlayedServer:
    """Conversations, of which each client is told the states, and questions for those who joined.

    @ivar decisions: which decision was taken for each question, by its command.
    @ivar answers: how often somebody answered, taken or not.
    @ivar is_deaf: calls get no answer.
    """

    def __init__(self) -> None:
        self.clients: list[PlayedConnection] = []
        self.threads: dict[str, dict[str, Any]] = {}
        self.waiting: dict[int, dict[str, Any]] = {}
        self.decisions: dict[str, str] = {}
        self.answers = 0
        self.is_deaf = False
        self.refuses = False
        self.tried = 0
        self.on_decision: Callable[[str], None] = lambda decision: None
        self._next = 0

    # -- connections

    def connect(self, path: Path, listener: ServerListener) -> Callable[[], None]:
        self.tried += 1
        if self.refuses:
            listener.connection_ended()
            return lambda: None
        client = PlayedConnection(self, listener)
        self.clients.append(client)
        opened: ServerConnection = client
        listener.connection_opened(opened)
        return client.abort_connection

    def lose(self, client: PlayedConnection) -> None:
        if client in self.clients:
            self.clients.remove(client)
            client.listener.connection_ended()

    # -- what clients send

    def take(self, client: PlayedConnection, message: dict[str, Any]) -> None:
        method, name = message.get("method"), message.get("id")
        if method is None:
            self.answers += 1
            if name in self.waiting:
                self.resolve(int(name), message["result"]["decision"])
        elif method == "initialized":
            client.ready = True
        elif not self.is_deaf:
            self.respond(client, method, name, message["params"])

    def respond(self, client: PlayedConnection, method: str, name: Any, params: Any) -> None:
        thread = self.threads.get(params.get("threadId", ""))
        if method == "initialize":
            client.unwanted = frozenset(params["capabilities"]["optOutNotificationMethods"])
            client.tell(id=name, result={"codexHome": "/home/me/.codex"})
        elif method == "thread/loaded/list":
            client.tell(id=name, result={"data": list(self.threads), "nextCursor": None})
        elif thread is None:
            client.tell(id=name, error={"code": -32600, "message": "thread not loaded"})
        elif method == "thread/read":
            client.tell(id=name, result={"thread": thread})
        elif method == "thread/resume":
            client.joined.add(thread["id"])
            client.tell(id=name, result={"thread": thread})
            for asked, about in self.waiting.items():
                if about["threadId"] == thread["id"]:
                    client.tell(id=asked, method=REQUEST, params=about)

    # -- what the agent does

    def begin_thread(self, name: str = THREAD, **more: Any) -> None:
        thread = {"id": name, "ephemeral": False, "parentThreadId": None, **more}
        self.threads[name] = {"status": {"type": "idle"}, **thread}
        self.broadcast("thread/started", thread=self.threads[name])

    def change(self, kind: str, *flags: str, thread: str = THREAD) -> None:
        status: dict[str, Any] = {"type": kind}
        if kind == "active":
            status["activeFlags"] = list(flags)
        self.threads[thread]["status"] = status
        self.broadcast("thread/status/changed", threadId=thread, status=status)

    def ask(self, command: str, thread: str = THREAD, **more: Any) -> int:
        """The agent asks for a command; its flag goes first, as in the real one."""
        name, self._next = self._next, self._next + 1
        about = {
            "kind": "command",
            "threadId": thread,
            "turnId": "t1",
            "itemId": f"call_{name}",
            "startedAtMs": 1,
            "environmentId": "local",
            "reason": "May it run?",
            "command": f"/bin/bash -lc '{command}'",
            "cwd": "/work",
            "commandActions": [{"type": "unknown", "command": command}],
            "availableDecisions": DECISIONS,
            **more,
        }
        self.waiting[name] = about
        self.change("active", "waitingOnApproval", thread=thread)
        for client in list(self.clients):
            # A client that joined because of the flag is sent it twice.
            if thread in client.joined:
                client.tell(id=name, method=REQUEST, params=about)
        return name

    def resolve(self, name: int, decision: str) -> None:
        """The first answer is taken, of whichever client."""
        about = self.waiting.pop(name)
        self.decisions[about["commandActions"][0]["command"]] = decision
        self.on_decision(decision)
        for client in list(self.clients):
            if about["threadId"] in client.joined:
                client.tell(
                    method="serverRequest/resolved",
                    params={"threadId": about["threadId"], "requestId": name},
                )
        self.change("active" if decision == "accept" else "idle", thread=about["threadId"])

    def broadcast(self, method: str, **params: Any) -> None:
        for client in list(self.clients):
            if client.ready:
                client.tell(method=method, params=params)


REQUEST = "item/commandExecution/requestApproval"
