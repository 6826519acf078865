"""Tests for L{tservice.client.link.address}: one way to say where the service is."""

from __future__ import annotations

import base64
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.client.errors import Unusable
from tservice.client.link.address import CONFIG, ServiceAddress, address_from_environment
from tservice.client.link.connection import format_address

PIN = ":".join(["AB"] * 32)


class ClientEnvironmentTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.home = Path(self.mktemp())
        self.home.mkdir()

    def address(self, **environ: str) -> ServiceAddress:
        return address_from_environment(environ, self.home)

    def refused(self, **environ: str) -> str:
        return str(self.assertRaises(Unusable, address_from_environment, environ, self.home))

    def test_service_urls_are_parsed(self) -> None:
        for url, want in (
            ("http://127.0.0.1:8770", "http://127.0.0.1:8770"),
            ("http://box", "http://box:80"),
            ("https://box/base/", "https://box:443/base"),
            ("http://[::1]:1", "http://[::1]:1"),
            ("unix:/run/t.sock", "unix:/run/t.sock"),
        ):
            self.assertEqual(want, format_address(self.address(TSCTL_URL=url)))
        self.assertEqual("http://127.0.0.1:8770", format_address(self.address()))
        self.assertEqual("http://a:1", format_address(self.address(SERVICE_API_URL="http://a:1")))

    def test_invalid_service_urls_are_refused(self) -> None:
        for url in ("box:1", "ftp://box", "http://", "http://a:b", "http://a?q", "unix:t.sock"):
            self.assertIn("TSCTL_URL must be", self.refused(TSCTL_URL=url), url)
        self.assertIn("must not contain a login", self.refused(TSCTL_URL="http://ann:pw@box"))

    def test_credentials_come_from_token_password_or_file(self) -> None:
        path = self.home / "token"
        path.write_text("tsk_file\n")
        path.chmod(0o600)
        file = {"TSCTL_TOKEN_FILE": str(path)}
        self.assertEqual("Bearer tsk_a", self.address(TSCTL_TOKEN="tsk_a").authorization)
        found = self.address(TSCTL_PASSWORD="x", TSCTL_TOKEN="tsk_a", **file)
        self.assertEqual("Bearer tsk_file", found.authorization)
        login = base64.b64encode("admin:pä:ss".encode()).decode()
        self.assertEqual(f"Basic {login}", self.address(TSCTL_PASSWORD="pä:ss").authorization)
        self.assertEqual("", self.address(TSCTL_USER="ann").authorization)
        path.chmod(0o644)
        self.assertIn("must have mode 0600", self.refused(**file))
        self.assertIn("No such file", self.refused(TSCTL_TOKEN_FILE=str(self.home / "none")))

    def test_token_cannot_add_a_header(self) -> None:
        text = self.refused(TSCTL_TOKEN="tsk_a\r\nX: y")
        self.assertIn("TSCTL_TOKEN must be printable", text)
        self.assertNotIn("tsk_a", text)

    def test_certificate_fingerprint_is_parsed(self) -> None:
        found = self.address(TSCTL_URL="https://box", TSCTL_FINGERPRINT=PIN)
        self.assertEqual(b"\xab" * 32, found.fingerprint)
        self.assertIn("64 hex", self.refused(TSCTL_URL="https://box", TSCTL_FINGERPRINT="ab"))
        self.assertIn("needs a URL of https", self.refused(TSCTL_FINGERPRINT=PIN))


class ClientAddressFileTests(SynchronousTestCase):
    """C{--at NAME}."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp())
        self.path = self.home / CONFIG
        self.path.parent.mkdir(parents=True)

    def write(self, text: str, mode: int = 0o600) -> None:
        self.path.write_text(text)
        self.path.chmod(mode)

    def refused(self, name: str = "home") -> str:
        return str(self.assertRaises(Unusable, address_from_environment, {}, self.home, name))

    def test_several_services_are_configured_by_name(self) -> None:
        self.write(
            f"home:\n  url: https://box:8443\n  fingerprint: '{PIN}'\n  token: tsk_a\n"
            "work: {url: 'unix:/run/t.sock', user: ann, password: secret}\n"
        )
        # What the environment holds is for another service.
        environ = {"TSCTL_TOKEN": "tsk_other", "TSCTL_URL": "http://other"}
        home = address_from_environment(environ, self.home, "home")
        self.assertEqual(
            ("https://box:8443", "Bearer tsk_a"), (format_address(home), home.authorization)
        )
        self.assertEqual(b"\xab" * 32, home.fingerprint)
        self.assertEqual("/run/t.sock", address_from_environment({}, self.home, "work").unix)
        self.assertIn("known are: home, work", self.refused("play"))

    def test_token_file_may_be_in_the_home_folder(self) -> None:
        self.write("home: {url: 'http://a', tokenFile: ~/token}")
        (self.home / "token").write_text("tsk_b")
        (self.home / "token").chmod(0o600)
        self.assertEqual(
            "Bearer tsk_b", address_from_environment({}, self.home, "home").authorization
        )

    def test_invalid_configuration_files_are_refused(self) -> None:
        for text, want in (
            ("home: {url: 'http://a', pasword: x}", "unknown key 'pasword'"),
            ("home: {url: 'http://a', token: 5}", "token must be a text"),
            ("home: [", "not valid YAML"),
            ("[]", "must map each name"),
            ("home: 3", "must map each name"),
            ("home: {url: 'ftp://a'}", "home: url must be"),
        ):
            self.write(text)
            self.assertIn(want, self.refused(), text)
        self.write("home: {url: 'http://a'}", 0o640)
        self.assertIn("must have mode 0600", self.refused())
        self.path.unlink()
        self.assertIn("No such file", self.refused())
