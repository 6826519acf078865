"""A test that fails leaves what can tell why."""

from __future__ import annotations

import os
import unittest
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests import evidence


def failing_case() -> SynchronousTestCase:
    """Make a test that fails while its source is open; its clean-up closes the source."""

    class Failing(SynchronousTestCase):
        def runTest(self) -> None:
            self.addCleanup(evidence.unregister_source, self)
            evidence.register_source(self, lambda: iter([("daemon.log", b"first\nlast\n")]))
            self.fail("on purpose")

    return Failing()


class _ReportSection:
    """Takes a report section as a pytest item does."""

    def __init__(self) -> None:
        self.sections: list[tuple[str, str, str]] = []

    def add_report_section(self, when: str, key: str, content: str) -> None:
        self.sections.append((when, key, content))


class EvidenceTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.root.mkdir()
        self.patch(evidence, "ROOT", self.root)
        self.patch(evidence, "_sources", {})
        self.item: Any = _ReportSection()
        self.patch(evidence, "_items", [self.item])
        self.patch(os, "environ", {**os.environ, evidence.VARIABLE: str(self.root / "run")})

    def run_case(self, case: unittest.TestCase) -> unittest.TestResult:
        result = unittest.TestResult()
        evidence.watch_case(case)
        case.run(result)
        return result

    def test_failing_test_log_is_kept_before_the_clean_up(self) -> None:
        self.assertEqual(1, len(self.run_case(failing_case()).failures))
        [log] = (self.root / "run").rglob("1-daemon.log")
        self.assertEqual("first\nlast\n", log.read_text())
        [(when, key, content)] = self.item.sections
        self.assertEqual(("call", "evidence"), (when, key))
        self.assertIn("--- 1-daemon.log\nfirst\nlast", content)
        self.assertEqual({}, evidence._sources)

    def test_failing_evidence_source_does_not_hide_the_failure(self) -> None:
        evidence.register_source(self, lambda: 1 / 0)  # type: ignore[arg-type, return-value]
        evidence.register_source(self.item, lambda: iter([("a.txt", b"a")]))
        evidence.collect_evidence("tests.x")
        names = sorted(path.name for path in (self.root / "run").rglob("*.txt"))
        self.assertEqual(["1-unreadable.txt", "2-a.txt"], names)

    def test_evidence_is_not_written_without_an_open_run(self) -> None:
        evidence.collect_evidence("tests.x")
        self.assertFalse((self.root / "run").exists())

    def test_evidence_of_only_the_last_runs_is_kept(self) -> None:
        self.patch(evidence, "FAILURES", self.root / "failures")
        for number in range(evidence.KEPT_RUNS + 2):
            (self.root / "failures" / f"2026010{number}").mkdir(parents=True)
        evidence.begin_run()
        kept = sorted(path.name for path in (self.root / "failures").iterdir())
        self.assertEqual([f"2026010{number}" for number in (3, 4, 5, 6)], kept)
