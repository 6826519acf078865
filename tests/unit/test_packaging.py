"""What is in the package, and that every document tells the truth about the settings."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import yaml
from twisted.trial.unittest import SynchronousTestCase

from docs import generate
from tests.non_empty import require_items
from tests.package_files import ROOT, package_files
from tservice.core.config.load import load_config
from tservice.core.config.model import Config, list_settings

TOP = {
    *(".ci", ".dockerignore", ".gitignore", "CHANGELOG.rst", "Containerfile", "LICENSE"),
    *("MANIFEST.in", "Makefile", "README.rst", "compose.yaml"),
    *("bench", "docs", "etc", "man", "newsfragments", "pyproject.toml", "setup.cfg", "setup.py"),
    *("tests", "tools", "tservice", "twisted", "web"),
}

DISTRIBUTIONS = {
    "OpenSSL": "twisted",
    "argon2": "argon2-cffi",
    "attr": "attrs",
    "constantly": "twisted",
    "cryptography": "twisted",
    "hyperlink": "twisted",
    "pydantic_core": "pydantic",
    "txaio": "autobahn",
    "werkzeug": "klein",
    "yaml": "pyyaml",
    "zope": "twisted",
}
"""What a module is installed by, where its name does not tell."""


class PackageSetupTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.setup = configparser.ConfigParser()
        self.setup.read(ROOT / "setup.cfg", encoding="utf-8")

    def words(self, section: str, key: str) -> list[str]:
        lines = self.setup[section][key].splitlines()
        return [line.strip() for line in lines if line.strip() and line.strip()[0] != "#"]

    def test_setup_lists_every_package(self) -> None:
        found = {".".join(path.parent.parts) for path in package_files() if path.suffix == ".py"}
        self.assertEqual(sorted({*found, "twisted.plugins"}), self.words("options", "packages"))

    def test_every_other_file_is_listed_as_package_data(self) -> None:
        patterns = [
            f"{package.replace('.', '/')}/{pattern}"
            for package in self.setup["options.package_data"]
            for pattern in self.words("options.package_data", package)
        ]
        missing = [
            str(path)
            for path in package_files()
            if path.suffix != ".py" and not any(fnmatch(str(path), name) for name in patterns)
        ]
        self.assertEqual([], missing)

    def test_setup_lists_only_existing_data_files(self) -> None:
        for folder in require_items(self.setup["options.data_files"]):
            for name in self.words("options.data_files", folder):
                self.assertTrue((ROOT / name).is_file(), name)

    def test_setup_requires_every_imported_package(self) -> None:
        wanted = self.words("options", "install_requires")
        required = {re.split(r"[\[ <>=]", line)[0].lower() for line in wanted}
        for path in require_items(package_files()):
            if path.suffix != ".py":
                continue
            for name in imported(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
                distribution = DISTRIBUTIONS.get(name, name).replace("_", "-").lower()
                self.assertIn(distribution, required, f"{path} imports {name}")

    def test_twisted_plugin_folder_is_no_package(self) -> None:
        """An C{__init__.py} there would hide Twisted itself."""
        self.assertEqual([], list((ROOT / "twisted").rglob("__init__.py")))


class SourceTreeTests(SynchronousTestCase):
    def test_no_unexpected_file_is_at_the_top_level(self) -> None:
        command = ["git", "-C", str(ROOT), "ls-tree", "-z", "--name-only", "HEAD"]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.assertEqual(TOP, set(names.rstrip("\0").split("\0")))


def imported(tree: ast.Module) -> Iterator[str]:
    """Top-level names of what is neither ours nor Python's own."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        for name in (name.split(".")[0] for name in names):
            if name != "tservice" and name not in sys.stdlib_module_names:
                yield name


class GeneratedDocumentTests(SynchronousTestCase):
    def test_tables_in_the_documents_match_the_settings(self) -> None:
        for path, rewrite in require_items(generate.documents().items()):
            text = path.read_text(encoding="utf-8")
            self.assertEqual(rewrite(text), text, f"{path} is old: make docs")

    def test_every_setting_is_in_the_reference_and_the_manual(self) -> None:
        reference = (ROOT / "docs/reference/settings.rst").read_text(encoding="utf-8")
        manual = (ROOT / "man/tservice.8").read_text(encoding="utf-8").replace("\\-", "-")
        for entry in require_items(list_settings()):
            self.assertIn(f"``{entry.name}``", reference)
            if entry.in_environment:
                self.assertIn(f"``{entry.variable}``", reference)
                self.assertIn(entry.variable, manual)
            if entry.on_command_line:
                self.assertIn(f"--{entry.name}", manual)

    def test_missing_marker_is_an_error(self) -> None:
        self.assertRaises(ValueError, generate.between, "text", ".. ", "x")

    def test_sample_configuration_has_every_key_with_its_default(self) -> None:
        text = (ROOT / "etc/tservice.yaml").read_text(encoding="utf-8")
        used = re.sub(r"(?m)^#(?! )", "", text)
        self.assertEqual([entry.name for entry in list_settings()], list(yaml.safe_load(used)))
        file = Path("t.yaml")
        file.write_text(used)
        home = Path("/home/someone")
        self.assertEqual(load_config({}, {}, home), load_config({"config": str(file)}, {}, home))
        self.assertEqual(Config().listen, load_config({}, {}, home).config.listen)

    def test_every_link_of_readme_and_docs_leads_somewhere(self) -> None:
        for page in [ROOT / "README.rst", *sorted((ROOT / "docs").rglob("*.rst"))]:
            for target in re.findall(r"<([\w./]*[^\W_])>`_", page.read_text(encoding="utf-8")):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")
