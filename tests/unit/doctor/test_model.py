"""Versions, hints and the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.model import VERSION
from tservice.clis.stock_entries import load_stock_entries
from tservice.doctor.catalogue import (
    INSTALL,
    PYTHON,
    TOOLS,
    ExaminedCli,
    choose_package_manager,
    encode_clis,
    list_tools,
    make_cli_tool,
    make_install_hint,
    parse_clis,
)
from tservice.doctor.child_launch import parse_report
from tservice.doctor.model import (
    ReportRow,
    ToolCategory,
    ToolStatus,
    format_version,
    has_required_fault,
    is_older,
    make_report,
    parse_tool_version,
    parse_version_numbers,
)
from tservice.doctor.probe import ProbedHost, examine_tool, make_version_row, search_patterns
from tservice.doctor.registry_entries import select_enabled

PRINTED = (
    ("tmux 3.3a", "3.3a"),
    ("tmux next-3.4", "3.4"),
    ("tmux 3.5-rc2", "3.5-rc2"),
    ("tmux openbsd-7.4", "7.4"),
    ("git version 2.39.5 (Apple Git-154)", "2.39.5"),
    ("curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1", "7.88.1"),
    ("OpenSSH_9.2p1 Debian-2+deb12u3, OpenSSL 3.0.15 3 Sep 2024", "9.2p1"),
    ("Docker version 24.0.5, build ced0996", "24.0.5"),
    ("podman version 4.3.1", "4.3.1"),
    ("cloudflared version 2024.1.5 (built 2024-01-22)", "2024.1.5"),
    ("Chromium 120.0.6099.224 built on Debian 12.4", "120.0.6099.224"),
    ("LibreOffice 7.4.7.2 40(Build:2)", "7.4.7.2"),
    ("pdftoppm version 22.12.0\nCopyright 2005-2022", "22.12.0"),
    ("v22.1.0", "22.1.0"),
    ("a warning\n2.1.197 (Claude Code)", "2.1.197"),
    ("hello", None),
    ("", None),
    ("version 7", None),
)


class ToolVersionTests(SynchronousTestCase):
    def test_versions_are_read_from_tool_output(self) -> None:
        for text, version in PRINTED:
            self.assertEqual(version, parse_tool_version(text), text)

    def test_versions_are_compared_by_number(self) -> None:
        for version, least, older in (
            ("3.1c", (3, 2), True),
            ("3.2", (3, 2), False),
            ("3.2a", (3, 2), False),
            ("3.10", (3, 2), False),
            ("2.9", (2, 31), True),
            ("2.31.0", (2, 31), False),
            ("2.31", (2, 31, 0), False),
            ("4", (3, 2), False),
            ("3", (3, 2), True),
        ):
            self.assertEqual(older, is_older(version, least), version)

    @given(st.text(max_size=300))
    def test_any_text_is_read_without_error(self, text: str) -> None:
        version = parse_tool_version(text)
        if version is not None:
            self.assertLessEqual(len(version), 60)
            self.assertTrue(parse_version_numbers(version))

    def test_tool_status_follows_its_version(self) -> None:
        tmux = TOOLS[0]
        for version, status in (
            ("3.3a", ToolStatus.OK), ("3.1", ToolStatus.OUTDATED), (None, ToolStatus.ERROR)
        ):  # fmt: skip
            self.assertIs(status, make_version_row(tmux, "/x/tmux", version, "apt").status)
        old = make_version_row(tmux, "/x/tmux", "3.1", "apt")
        self.assertEqual("sudo apt-get install tmux", old.install_hint)
        curl = next(tool for tool in TOOLS if tool.id == "curl")
        found = make_version_row(curl, "/x/curl", None, None)
        self.assertIs(ToolStatus.OK, found.status)
        self.assertEqual((format_version(tmux.least or ()), None), (old.needed, found.needed))

    def test_required_python_version_is_that_of_the_package(self) -> None:
        setup = (Path(__file__).resolve().parents[3] / "setup.cfg").read_text()
        floor = ".".join(map(str, PYTHON.least or ()))
        self.assertIn(f"python_requires = >={floor}\n", setup)


class CatalogueTests(SynchronousTestCase):
    def test_every_tool_has_an_installation_hint_on_every_platform(self) -> None:
        cli = make_cli_tool(ExaminedCli(id="x", label="X", names=("x",), install="get x"))
        for tool in (*TOOLS, PYTHON, cli):
            for manager in (*INSTALL, None):
                self.assertTrue(make_install_hint(tool, manager).strip())
        self.assertEqual("get x", make_install_hint(cli, "apt"))

    def test_installation_hints_depend_on_the_platform(self) -> None:
        ssh = next(tool for tool in TOOLS if tool.id == "ssh")
        self.assertEqual(
            ["sudo apt-get install openssh-client", "sudo dnf install openssh-clients",
             "sudo pacman -S openssh", "sudo apk add openssh", "brew install openssh"],
            [make_install_hint(ssh, manager) for manager in INSTALL],
        )  # fmt: skip

    def test_package_manager_is_found_by_platform(self) -> None:
        self.assertEqual("brew", choose_package_manager("darwin", ["apt"]))
        self.assertEqual("dnf", choose_package_manager("linux", ["brew", "dnf"]))
        self.assertIsNone(choose_package_manager("linux", []))

    def test_every_tool_is_in_one_category(self) -> None:
        cli = ExaminedCli(id="x", label="X", names=("x",), install="get x")
        found = {
            category: [tool.id for tool in list_tools(category, [cli])] for category in ToolCategory
        }
        self.assertEqual(
            {
                ToolCategory.CORE: ["tmux", "git", "curl", "cli-x"],
                ToolCategory.OFFICE: ["libreoffice", "pdftoppm"],
                ToolCategory.OTHER: ["ssh", "podman", "docker", "cloudflared", "chromium"],
            },
            found,
        )
        every = [name for names in found.values() for name in names]
        self.assertEqual(every, [tool.id for tool in list_tools(None, [cli])])

    def test_required_tools_are_python_tmux_and_curl(self) -> None:
        required = {tool.id for tool in (PYTHON, *TOOLS) if tool.required}
        self.assertEqual({"python", "tmux", "curl"}, required)

    def test_clis_round_trip_as_plain_data(self) -> None:
        plain = ExaminedCli(id="x", label="X", names=("x", "y"), install="npm i")
        clis = [plain, evolve(plain, version_args=("version", "-s"), pattern="v([0-9.]+)")]
        self.assertEqual(clis, parse_clis(encode_clis(clis)))

    def test_cli_entry_is_asked_with_its_version_arguments(self) -> None:
        """As the page of CLIs asks it, and a custom one that does not say how is not run."""
        claude = next(
            cli for cli in select_enabled(load_stock_entries().values()) if cli.id == "primary"
        )
        self.assertEqual((("--version",), VERSION), (claude.version_args, claude.pattern))
        shell = next(
            cli for cli in select_enabled(load_stock_entries().values()) if cli.id == "shell"
        )
        self.assertEqual((), make_cli_tool(shell).version_args)
        folder = Path(self.mktemp()).absolute()
        folder.mkdir(parents=True)
        program = folder / "odd"
        program.write_text("#!/bin/sh\necho 2026 odd, release $1-7.5\n")
        program.chmod(0o755)
        odd = ExaminedCli(
            id="odd", label="Odd", names=("odd",), install="",
            version_args=("tell",), pattern="release ([a-z0-9.-]+)",
        )  # fmt: skip
        found = examine_tool(make_cli_tool(odd), ProbedHost(folders=(folder,), env={}))
        self.assertEqual((ToolStatus.OK, "tell-7.5"), (found.status, found.version))

    def test_relative_folders_of_path_are_skipped(self) -> None:
        found = search_patterns({"PATH": "/a::bin:./x:/b"}, Path("/h"), "/c:.:/a")
        self.assertEqual(
            ("/a", "/b", "/c", "~/.local/bin", "~/.npm-global/bin", "/usr/local/bin"), found[:6]
        )


class DoctorReportTests(SynchronousTestCase):
    def row(self, **fields: Any) -> ReportRow:
        return ReportRow(id="x", label="X", category=ToolCategory.CORE,
                   **{"required": True, "status": ToolStatus.OK, **fields})  # fmt: skip

    def test_report_has_the_documented_shape(self) -> None:
        found = make_report("linux", [self.row(version="1.2", path="/x"), self.row(
            status=ToolStatus.MISSING, install_hint="get it")])  # fmt: skip
        self.assertEqual(
            {"ok": 1, "missing": 1, "outdated": 0, "skipped": 0, "error": 0}, found["summary"]
        )
        self.assertEqual(
            {"id": "x", "label": "X", "category": "core", "required": True,
             "status": "missing", "installHint": "get it"},
            found["tools"][1],
        )  # fmt: skip

    def test_only_required_tools_fail_a_report(self) -> None:
        for status in ToolStatus:
            bad = make_report("linux", [self.row(status=status)])
            self.assertEqual(status is not ToolStatus.OK, has_required_fault(bad))
            self.assertFalse(
                has_required_fault(make_report("linux", [self.row(status=status, required=False)]))
            )

    def test_malformed_child_output_is_no_report(self) -> None:
        for printed in (b"", b'{"tools": []}', b"{\n", b"[]\n", b"{}\n", b"\xff\n", b"\n{}"):
            self.assertIsNone(parse_report(printed))
        self.assertEqual({"tools": []}, parse_report(b'{"tools": []}\nmore'))
