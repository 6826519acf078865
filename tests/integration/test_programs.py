"""What a real shell runs in the foreground, how its commands end, and where its programs listen."""

from __future__ import annotations

from typing import Any

from tests.integration.harness import DaemonCase
from tests.waiting import wait_until

SERVER = """exec python3 -c '
import socket, time
held = socket.create_server(("127.0.0.1", 0))
print("port", held.getsockname()[1], flush=True)
time.sleep(600)'"""


class ShellProgramTests(DaemonCase):
    def test_foreground_program_exit_status_and_ports_of_a_shell(self) -> None:
        service = self.daemon().start()
        made = service.request("POST", "/api/sessions", {"mode": "shell", "start": True}).data()
        path = f"/api/sessions/{made['session']['id']}"
        script = service.home / "serve.sh"
        script.write_text(SERVER)

        def record() -> Any:
            return service.request("GET", path).data()

        def run(line: str) -> None:
            service.request("POST", f"{path}/input", {"input": line, "useMux": False}).data()

        wait_until("a prompt", lambda: record().get("lastExitStatus") == 0)
        run("sleep 600\r")
        wait_until("sleep", lambda: record().get("foreground", {}).get("name") == "sleep")
        self.assertNotIn("lastExitStatus", record())
        run("\x03")
        wait_until("its end", lambda: record().get("lastExitStatus") == 130)
        self.assertNotIn("foreground", record())
        run(f"(sleep 600; true) & sh {script}\r")
        wait_until("a port", lambda: record().get("serverPorts"))
        [port] = record()["serverPorts"]
        screen = service.request("GET", f"{path}/terminal").data()["terminalBuffer"]
        self.assertIn(f"port {port}", screen)
        run("\x03")
        wait_until("no port", lambda: "serverPorts" not in record())
        # A shell that is hung up while it waits for a program does not always tell its jobs.
        service.request("DELETE", path).data()
