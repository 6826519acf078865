"""Tests for the commands of C{tsctl} that need no service."""

from __future__ import annotations

import re
import shlex
import ssl
from io import StringIO
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509
from twisted.trial.unittest import SynchronousTestCase

from tservice.client.commands.parsing import parse_command_line
from tservice.client.ctl import run_command_line
from tservice.client.shell import FAILED, ShellContext

NOW = 1_800_000_000.0


class LocalCommandCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp())
        self.folder.mkdir()
        self.shell = ShellContext(
            environ={},
            home=self.folder,
            now=lambda: NOW,
            input=StringIO(),
            out=StringIO(),
            error=StringIO(),
        )

    @property
    def said(self) -> str:
        shell: Any = self.shell
        return f"{shell.out.getvalue()}{shell.error.getvalue()}"


class TsctlTlsTests(LocalCommandCase):
    """C{tsctl tls}."""

    def make(self, *words: str) -> int:
        out = str(self.folder / "tls")
        return run_command_line(["tls", "--out", out, *words], self.shell)

    def test_key_and_certificate_are_created(self) -> None:
        self.assertEqual(0, self.make("box.example", "192.0.2.7", "::1"))
        key, certificate = self.folder / "tls/key.pem", self.folder / "tls/certificate.pem"
        self.assertEqual(0o600, key.stat().st_mode & 0o777)
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        self.assertEqual(["box.example"], names.get_values_for_type(x509.DNSName))
        self.assertEqual(2, len(names.get_values_for_type(x509.IPAddress)))
        self.assertEqual(397, (found.not_valid_after_utc - found.not_valid_before_utc).days)
        ssl.create_default_context().load_cert_chain(certificate, key)
        # Wherever the service is then started from.
        self.assertIn("--listen=ssl:8443:privateKey=/", self.said)

    def test_dns_names_are_accepted(self) -> None:
        names = ["Box", "xn--bcher-kva.example", "*.box.example", "1and1.example", "x" * 63]
        self.assertEqual(0, self.make(*names))

    def test_existing_files_are_not_overwritten(self) -> None:
        self.make("a")
        before = (self.folder / "tls/key.pem").read_bytes()
        self.assertEqual(FAILED, self.make("a"))
        self.assertEqual(before, (self.folder / "tls/key.pem").read_bytes())

    def test_invalid_names_and_days_are_refused(self) -> None:
        self.assertEqual(FAILED, self.make("--days", "9999", "a"))
        for name in (
            "not a name!", "", "bücher.example", "a..b", "a.-b", "a-", "a_b", "box.example.", ".a",
            "192.0.2.300", "192.0.2", "[::1]", "http://a", "a:8443", "*", "a.*",
            "x" * 64, ".".join(["x" * 60] * 5), "a\nb", "a\n",
        ):  # fmt: skip
            self.assertEqual(FAILED, self.make("box.example", name), name)
            *_, line = self.said.splitlines()
            self.assertEqual(f"tsctl: {name!r} is neither a DNS name nor an IP address", line)
        self.assertFalse((self.folder / "tls/key.pem").exists())


class SkillTests(LocalCommandCase):
    """C{tsctl skill} (protocol-skill)."""

    def test_skill_file_is_printed(self) -> None:
        self.assertEqual(0, run_command_line(["skill"], self.shell))
        _, head, body = self.said.split("---\n", 2)
        found = yaml.safe_load(head)
        self.assertEqual({"name", "description"}, set(found))
        self.assertLessEqual(len(found["description"]), 1024)
        self.assertIn("tsctl send", body)
        self.assertEqual([], list(self.folder.iterdir()), "nothing is written")

    def test_agents_section_is_printed_on_request(self) -> None:
        self.assertEqual(0, run_command_line(["skill", "--agents"], self.shell))
        self.assertTrue(self.said.startswith("## "))
        self.assertNotIn("---", self.said)

    def test_commands_taught_by_the_skill_are_valid(self) -> None:
        run_command_line(["skill"], self.shell)
        lines = re.findall(r"^    (?:\w+=\$\()?(tsctl [^#\n]*)", self.said, re.MULTILINE)
        self.assertGreater(len(lines), 6)
        for line in lines:
            words = shlex.split(line.strip().removesuffix(")"), comments=True)
            parse_command_line(words[1:])
