"""A server and an environment for the shell texts of hooks."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.shell_runner import SECRET, LoopbackServer

PATH = "/usr/local/bin:/usr/bin:/bin"
PAYLOAD = {"hook_event_name": "Stop", "text": "a \"b\" 'c' $HOME `id` \\ \\n \u00e9\nEOF BODY"}


class ShellCase(SynchronousTestCase):
    """A server, a secret in a folder with an awkward name, and an environment."""

    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute() / "a 'b\" $c\\"
        self.folder.mkdir(parents=True)
        secret = self.folder / "hook secret"
        secret.write_text(f"{SECRET}\n")
        self.server = LoopbackServer()
        self.addCleanup(lambda: self.server.close())
        self.env = {
            "PATH": PATH,
            "SERVICE_SESSION_ID": "11111111-2222",
            "SERVICE_API_URL": self.server.url,
            "SERVICE_HOOK_SECRET_FILE": str(secret),
        }
