"""The rules of the tests: helpers live in modules that are no tests, and nobody sleeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

TESTS = Path(__file__).resolve().parents[1]

SLEEPS = {"sleep", "wait_for_timeout", "pause"}
"""Calls that let time pass; alone they wait for nothing, in a loop they stand between two looks."""

CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "time"}

PACE = ("agents/panes.py",)
"""Types as a person does, who leaves time between a screen and the next key."""

APART = ("stress", "agents/recording", "agents/mock_tui", "agents/stub")
"""Programs: they run beside a test, or outside of every run."""


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of the tests by its path."""
    return {
        str(path.relative_to(TESTS)): ast.parse(path.read_text("utf-8"))
        for path in sorted(TESTS.rglob("*.py"))
    }


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules that are imported, anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_test(module: str) -> bool:
    """Whether it is one of our modules with tests."""
    name = module.split(".")
    return name[0] == "tests" and any(part.startswith("test_") for part in name)


def lone_sleeps(node: ast.AST, looping: bool = False) -> Iterator[int]:
    """The lines of calls that let time pass outside of a loop."""
    if isinstance(node, ast.Call) and node.args and not looping and _name(node.func) in SLEEPS:
        yield node.lineno
    within = looping or isinstance(node, ast.While | ast.For | ast.AsyncFor)
    for child in ast.iter_child_nodes(node):
        yield from lone_sleeps(child, within)


def elapsed_times(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of assertions that something took less than a time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ("assertLess", "assertLessEqual"):
            spans = [
                each
                for argument in node.args
                for each in ast.walk(argument)
                if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub)
            ]
            if any(_reads_clock(each.left) for each in spans):
                yield node.lineno


def _reads_clock(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in CLOCKS


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


class TestSourceRuleTests(SynchronousTestCase):
    @pytest.mark.long
    def test_no_test_imports_another_test_s_module(self) -> None:
        """It would run twice, and could not be moved or ended without the other."""
        wrong = [
            (path, module)
            for path, tree in sources().items()
            for module in imported(tree)
            if is_test(module) and module.replace(".", "/") + ".py" != f"tests/{path}"
        ]
        self.assertEqual([], [(path, module) for path, module in wrong if _exists(module)])

    def test_no_test_sleeps(self) -> None:
        """Who waits, waits for a condition: see C{tests.waiting}."""
        wrong = [
            f"{path}:{line}"
            for path, tree in sources().items()
            if not path.startswith(APART + PACE)
            for line in lone_sleeps(tree)
        ]
        self.assertEqual([], wrong)

    def test_no_assertion_about_elapsed_time(self) -> None:
        """A busy machine would break it by chance; C{bench} measures."""
        wrong = [
            f"{path}:{line}"
            for path, tree in sources().items()
            if not path.startswith(APART)
            for line in elapsed_times(tree)
        ]
        self.assertEqual([], wrong)

    def test_no_unit_test_is_left_to_the_rest(self) -> None:
        """C{make test-rest} does not collect this folder, where all others run in C{make test}."""
        mark = "mark." + "extended"
        files = sorted((TESTS / "unit").rglob("*.py"))
        self.assertTrue(files)
        self.assertEqual([], [file for file in files if mark in file.read_text("utf-8")])

    def test_assertion_about_elapsed_time_is_found(self) -> None:
        text = "self.assertLess(time.monotonic() - begun, 3)\nself.assertLess(a - b, 3)\n"
        self.assertEqual([1], [*elapsed_times(ast.parse(text))])

    def test_rule_detects_a_lone_sleep(self) -> None:
        found = [*lone_sleeps(ast.parse("time.sleep(1)\nwhile look():\n    time.sleep(1)\n"))]
        self.assertEqual([1], found)


def _exists(module: str) -> bool:
    return (TESTS.parent / (module.replace(".", "/") + ".py")).exists()
