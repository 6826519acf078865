"""The rules of the tests: helpers live in modules that are no tests, and nobody sleeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

TESTS = Path(__file__).resolve().parents[1]

SLEEPS = {"sleep", "wait_for_timeout", "pause"}
"""Calls that let time pass; alone they wait for nothing, in a loop they stand between two looks."""

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
    """The modules that are imported, anywhere."""
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


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


class RuleTests(SynchronousTestCase):
    def test_no_test_imports_another_test_s_module(self) -> None:
        """It would run twice, and could not be moved or ended without the other."""
        wrong = [
            (path, module)
            for path, tree in sources().items()
            for module in imported(tree)
            if is_test(module) and module.replace(".", "/") + ".py" != f"tests/{path}"
        ]
        self.assertEqual([], [(path, module) for path, module in wrong if _exists(module)])

    def test_nobody_sleeps(self) -> None:
        """Who waits, waits for a condition: see C{tests.waiting}."""
        wrong = [
            f"{path}:{line}"
            for path, tree in sources().items()
            if not path.startswith(APART + PACE)
            for line in lone_sleeps(tree)
        ]
        self.assertEqual([], wrong)

    def test_a_sleep_is_seen(self) -> None:
        found = [*lone_sleeps(ast.parse("time.sleep(1)\nwhile look():\n    time.sleep(1)\n"))]
        self.assertEqual([1], found)


def _exists(module: str) -> bool:
    return (TESTS.parent / (module.replace(".", "/") + ".py")).exists()
