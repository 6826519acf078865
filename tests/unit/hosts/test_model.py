"""What a record of a host may hold, and the words of ssh that come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.core.kernel.errors import ServiceError
from tservice.hosts.host_keys import HostKey, format_known_hosts_name, parse_keys, replace_key
from tservice.hosts.host_links import MAX_FACT_LENGTH, parse_facts
from tservice.hosts.model import (
    MOST_COMMANDS,
    MOST_OPTIONS,
    RemoteHost,
    check_host,
    check_remote_path,
    make_host_id,
)
from tservice.hosts.remote_locations import check_tmux_version
from tservice.hosts.ssh_command import SshCommand, build_configuration, quote_path
from tservice.mux.remote.runner import RemoteError

HOST = RemoteHost(id="h", label="There", host="far.example", username="me")
SSH = SshCommand(program="/ssh", configuration=Path("/d/config"), sockets=Path("/d"))
KEY = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIFzWhhW8HH3NLJS7hyDChQQv8pGLf2yzHTqPUBH2nYgL")


class HostRuleTests(SynchronousTestCase):
    """L{check_host}."""

    def refused(self, field: str, **fields: Any) -> None:
        error = self.assertRaises(ServiceError, check_host, evolve(HOST, **fields))
        self.assertEqual(400, error.status)
        self.assertIn(field, str(error))

    def test_valid_host_is_accepted(self) -> None:
        full = evolve(
            HOST,
            host="fe80::1%eth0",
            port=2222,
            identity_file="~/.ssh/id x",
            jump_host="me@jump.example:22,other",
            extra_ssh_options=("Ciphers=aes128-ctr", "compression=yes"),
            commands={"primary": "/opt/claude"},
            wake_mac="00:11:22:33:44:55, 00-11-22-33-44-66",
            wake_command="/usr/local/bin/wake",
        )
        self.assertIs(full, check_host(full))
        self.assertEqual(("command", 2), (full.wake_method, len(full.macs)))
        self.assertEqual("none", HOST.wake_method)

    def test_hostile_host_fields_are_refused(self) -> None:
        for bad in ("", "-oProxyCommand=x", "a\nb", "a b", "a;b", "$(x)", "a\x7f", "x" * 256):
            self.refused("host", host=bad)
            self.refused("jumpHost", jump_host=bad)
        for bad in ("", "-x", "a\0b", "a b", "a;b", "`x`"):
            self.refused("username", username=bad)
        for bad in ("me@-F", "ok,me@-Icard", "me@"):
            self.refused("jumpHost", jump_host=bad)
        for bad in ("", "-i", "a\nb", "relative", "/a\rb", '/a"b', "/a\\b", "/a${b}"):
            self.refused("identityFile", identity_file=bad)
        for port in (0, 65536, -1):
            self.refused("port", port=port)
        self.refused("label", label="a\x1bb")
        self.refused("commands", commands={"primary": "-x"})
        self.refused("commands", commands={str(n): "/x" for n in range(MOST_COMMANDS + 1)})

    def test_options_that_run_programs_or_forward_are_refused(self) -> None:
        for name in (
            "ProxyCommand", "proxycommand", "LocalCommand", "PermitLocalCommand",
            "KnownHostsCommand", "PKCS11Provider", "SecurityKeyProvider", "Include", "Match",
            "LocalForward", "RemoteForward", "DynamicForward", "SendEnv", "SetEnv", "ForwardAgent",
            "StrictHostKeyChecking", "UserKnownHostsFile", "ControlPath", "ProxyJump",
            "HostKeyAlias", "NoHostAuthenticationForLocalhost", " ProxyCommand", '"ProxyCommand"',
            "XAuthLocation", "Tunnel", "RemoteCommand",
        ):  # fmt: skip
            self.refused("extraSshOptions", extra_ssh_options=(f"{name}=x",))
        for bad in ("Ciphers", "Ciphers=", "Ciphers x", "=x"):
            self.refused("extraSshOptions", extra_ssh_options=(bad,))
        self.refused("extraSshOptions", extra_ssh_options=("Compression=yes",) * (MOST_OPTIONS + 1))

    def test_wake_fields_are_checked(self) -> None:
        five = ",".join(["00:11:22:33:44:55"] * 5)
        for bad in ("", "x", "00:11:22:33:44", "00:11-22:33:44:55", five, "0" * 129):
            self.refused("wakeMac", wake_mac=bad)
        for bad in ("wake", "/bin/wake now", "~/wake", ""):
            self.refused("wakeCommand", wake_command=bad)

    def test_host_ids_are_made_from_labels(self) -> None:
        self.assertEqual("my-box", make_host_id("My box!", {}))
        self.assertEqual("my-box-3", make_host_id("My box", {"my-box": 1, "my-box-2": 1}))
        self.assertEqual("buro", make_host_id("Büro", {}))
        self.assertEqual("host-2", make_host_id("构建机", {"host": 1}))

    def test_remote_paths_are_checked(self) -> None:
        self.assertEqual("~/a b", check_remote_path("remotePath", "~/a b"))
        for bad in ("a", "/a/../b", "/a\nb", "-x"):
            self.assertRaises(ServiceError, check_remote_path, "remotePath", bad)


class SshCommandLineTests(SynchronousTestCase):
    """L{SshCommand}, L{build_configuration}."""

    def test_shared_connection_command_is_built(self) -> None:
        host = evolve(HOST, jump_host="me@jump", identity_file="/k e", port=2222)
        words = SSH.build_master_command(host)
        self.assertIn("ControlMaster=yes", words)
        self.assertEqual(["-J", "me@jump"], words[words.index("-J") : words.index("-J") + 2])
        self.assertIn('IdentityFile="/k e"', words)
        self.assertEqual(["--", "far.example"], words[-2:])
        shared = SSH.build_shared_command(host)
        self.assertIn('ControlPath="/d/h.s"', shared)
        self.assertIn("ControlMaster=no", shared)
        self.assertIn("ProxyCommand=exit 1", shared)
        self.assertNotIn("-J", shared)
        tied = evolve(SSH, tie=("/usr/bin/setpriv", "--pdeathsig", "KILL", "--"))
        self.assertEqual(
            [*tied.tie, *SSH.build_master_command(host)], tied.build_master_command(host)
        )
        self.assertEqual(shared, tied.build_shared_command(host))

    def test_ssh_configuration_has_its_fixed_options(self) -> None:
        text = build_configuration(Path("/a b/known"))
        for line in (
            "BatchMode yes", "ServerAliveInterval 15", "ServerAliveCountMax 3", "ConnectTimeout 10",
            "StrictHostKeyChecking yes", 'UserKnownHostsFile "/a b/known"', "ForwardAgent no",
        ):  # fmt: skip
            self.assertIn(line + "\n", text)

    def test_paths_in_the_configuration_are_quoted(self) -> None:
        self.assertEqual('"/100%%"', quote_path("/100%"))
        for bad in ('/a"b', "/a\\b", "/${HOME}"):
            self.assertRaises(ValueError, quote_path, bad)

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.text(min_size=1, max_size=20), st.text(min_size=1, max_size=20))
    def test_no_host_field_becomes_an_ssh_option(self, host: str, user: str) -> None:
        try:
            made = check_host(evolve(HOST, host=host, username=user))
        except ServiceError:
            return
        words = SSH.build_master_command(made)
        self.assertEqual(["-l", user, "-p", "22", "--", host], words[-6:])


class KnownHostKeyTests(SynchronousTestCase):
    """C{known_hosts}."""

    def test_known_hosts_name_contains_the_port(self) -> None:
        self.assertEqual("far.example", format_known_hosts_name(HOST))
        self.assertEqual(
            "[far.example]:23", format_known_hosts_name(evolve(HOST, host="FAR.example", port=23))
        )

    def test_host_has_one_known_key(self) -> None:
        text = replace_key(
            "# mine\nother ssh-rsa AAAA\nfar.example ssh-rsa BBBB\n", "far.example", KEY
        )
        self.assertEqual([KEY], parse_keys(text, "far.example"))
        self.assertEqual([HostKey("ssh-rsa", "AAAA")], parse_keys(text, "other"))
        self.assertTrue(text.startswith("# mine\n"))
        self.assertEqual([], parse_keys("@revoked far.example ssh-rsa AAAA\nx\n"))

    def test_key_fingerprint_is_sha256(self) -> None:
        self.assertRegex(KEY.fingerprint, r"^SHA256:[A-Za-z0-9+/]{43}$")


class FactTests(SynchronousTestCase):
    """What a host says of itself."""

    def test_facts_of_a_host_are_parsed(self) -> None:
        found = parse_facts(b"me\n1000\n/home/me\n/bin/bash\n/opt/bin:/bin\ntmux 3.3a\n")
        self.assertEqual(("me", 1000, "/home/me"), (found.user, found.uid, found.home))
        self.assertEqual(("/opt/bin:/bin", "3.3a"), (found.path, found.tmux))
        self.assertIsNone(parse_facts(b"me\n1\n/h\n/sh\n/bin\nnone\n").tmux)
        for bad in (
            b"",
            b"what?\n",
            b"me\nx\n/h\n/s\n/p\ntmux 3\n",
            b"me\n\xc2\xb2\n/h\n/s\n/p\ntmux 3.3\n",
            b"me\n" + b"1" * 5000 + b"\n/h\n/s\n/p\ntmux 3.3\n",
            b"me\n1\n/h\n/s\n/" + b"p" * MAX_FACT_LENGTH + b"\ntmux 3.3\n",
        ):
            self.assertRaises(RemoteError, parse_facts, bad)

    def test_old_tmux_is_refused(self) -> None:
        for good in ("3.2", "3.2a", "3.5a", "next-3.6", "4.0"):
            check_tmux_version(good)
        for bad in (None, "3.1c", "2.9", "1.8", "", "\u00b2", "x" * 5000 + "3.3"):
            self.assertRaises(ServiceError, check_tmux_version, bad)
