"""The OpenAPI document and the real daemon: neither says what the other does not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import ClassVar

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.openapi.fuzzing import TameDaemon, fuzz_daemon
from tests.openapi.npm_programs import HERE, MODULES, install_packages, run_node
from tests.run_figures import report_figure

SECONDS = 20
WALK = ("--phases=examples,fuzzing,stateful", "--max-examples=3")


class ContractTests(SynchronousTestCase):
    daemon: ClassVar[TameDaemon]

    @classmethod
    def setUpClass(cls) -> None:
        install_packages()
        cls.daemon = TameDaemon()
        cls.daemon.start()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.daemon.close()

    def document(self, folder: Path) -> Path:
        path = folder / "openapi.json"
        path.write_bytes(self.daemon.request("GET", "/api/openapi.json").body)
        return path

    @pytest.mark.extended
    def test_generated_foreign_client_compiles_and_works(self) -> None:
        folder = Path(self.mktemp()).resolve()
        folder.mkdir()
        schema = self.document(folder)
        (folder / "node_modules").symlink_to(MODULES)
        for name in ("client.ts", "globals.d.ts", "tsconfig.json", "package.json", "redocly.yaml"):
            shutil.copy(HERE / name, folder)
        binaries = MODULES / ".bin"
        run_node(str(binaries / "redocly"), "lint", schema.name, folder=folder)
        run_node(str(binaries / "openapi-typescript"), schema.name, "-o", "schema.d.ts",
             "--default-non-nullable", "false", folder=folder)  # fmt: skip
        run_node(str(binaries / "tsc"), "-p", ".", folder=folder)
        self.assertEqual("true\ntrue\n", run_node("client.ts", self.daemon.url, folder=folder))

    def test_answers_match_the_openapi_document(self) -> None:
        """Generated requests, and walks along the links; more of it in the stress tests."""
        verdict = fuzz_daemon(self.daemon, SECONDS, *WALK)
        self.assertTrue(verdict.passed, verdict.report[-20_000:])
        cases = re.search(r"(\d+) generated, (\d+) passed", verdict.report)
        assert cases is not None, verdict.report[-4000:]
        report_figure(f"{cases[0]} against the OpenAPI document")
        self.assertNotIn("fault ", verdict.log)
