"""To which addresses an account without the grant may have the service's git connect."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.access.harness import ADMIN, WORD
from tests.integration.git_servers import (
    GitDaemon,
    HttpBackend,
    RepositoryRedirector,
    make_repository,
)
from tests.integration.harness import DaemonCase
from tests.unit.http.gate_harness import basic_headers
from tservice.git.changing.clone_environment import CONFIG_NAMES, clone_arguments, clone_environment
from tservice.git.clone_address import CloneSource, parse_source
from tservice.git.process.isolation import parse_config_keys

KIM = basic_headers("kim", WORD)


class AccountCloneTests(DaemonCase):
    """The real daemon and the real git."""

    def test_account_without_the_grant_clones_from_public_addresses_only(self) -> None:
        service = self.daemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD).start()
        body = {"username": "kim", "password": WORD, "canBypassPermissions": False}
        service.request("POST", "/api/admin/users", body, ADMIN).data()
        make_repository(service.folder / "remotes" / "plain", file="content\n")
        web = HttpBackend(service.folder / "remotes")
        self.addCleanup(web.close)
        port = web.host.rpartition(":")[2]
        word = "ann:s3cret%2Fword"
        for where in (
            *(f"http://{word}@{web.host}/plain/.git", f"http://localhost:{port}/plain/.git"),
            *(f"http://2130706433:{port}/plain/.git", f"http://127.1:{port}/plain/.git"),
            *(f"http://[::1]:{port}/x", f"http://[::ffff:127.0.0.1]:{port}/x"),
            *("http://169.254.169.254/latest", "https://10.0.0.1/x", "git://192.168.1.1/x"),
            *("ssh://127.0.0.1/x", "git@127.0.0.1:x", "git@localhost:x", "http://a.localhost/x"),
        ):
            asked = {"name": "held", "repository": where}
            answer = service.request("POST", "/api/cases/clone", asked, KIM)
            self.assertEqual(403, answer.status, (where, answer.body))
            told = answer.json()["error"]
            self.assertTrue(told.startswith("repository: "), told)
            self.assertIn("grant to bypass permissions", told)
        self.assertEqual([], web.asked)
        asked = {"name": "held", "repository": f"http://{word}@{web.host}/plain/.git"}
        service.request("POST", "/api/cases/clone", asked, ADMIN).data()


class HeldGitTests(SynchronousTestCase):
    """Git with the settings of such a clone, whose address is taken for a public one."""

    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory(prefix="tsheld")
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name).resolve()
        make_repository(self.folder / "remotes" / "plain", file="content\n")
        self.web = HttpBackend(self.folder / "remotes")
        self.addCleanup(self.web.close)

    def clone(self, source: CloneSource, name: str) -> subprocess.CompletedProcess[bytes]:
        around = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "LC_ALL": "C"}
        names = subprocess.run(["git", *CONFIG_NAMES], env=around, capture_output=True, check=True)
        env = clone_environment(around, source, parse_config_keys(names.stdout))
        words = clone_arguments(source, str(self.folder / name), None, shallow=False)
        return subprocess.run(["git", *words], env=env, capture_output=True, check=False)

    def held(self, where: str) -> CloneSource:
        return evolve(parse_source(where, local=False), addresses=("127.0.0.1",))

    def test_name_is_not_looked_up_again(self) -> None:
        port = self.web.host.rpartition(":")[2]
        where = f"http://ann:s3cret%2Fword@public.invalid:{port}/plain/.git"
        found = self.clone(self.held(where), "pinned")
        self.assertEqual(0, found.returncode, found.stderr)
        daemon = GitDaemon(self.folder / "remotes")
        self.addCleanup(daemon.close)
        found = self.clone(self.held(f"git://public.invalid:{daemon.port}/plain"), "daemon")
        self.assertEqual(0, found.returncode, found.stderr)

    def test_redirect_is_not_followed(self) -> None:
        redirector = RepositoryRedirector(self.web.host)
        self.addCleanup(redirector.close)
        where = f"http://{redirector.host}/plain/.git"
        found = self.clone(self.held(where), "redirected")
        self.assertNotEqual(0, found.returncode)
        self.assertEqual([], self.web.asked)
        # Control: without the settings it is.
        self.clone(parse_source(where, local=False), "free")
        self.assertNotEqual([], self.web.asked)
