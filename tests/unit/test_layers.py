"""The import rules of the house: who may know whom, and no global clock or reactor."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from twisted.trial.unittest import SynchronousTestCase

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tservice"

BASE = {
    "core": set[str](),
    "terminal": {"core"},
    "store": {"core", "terminal"},
    "mux": {"core", "terminal"},
    "http": {"core", "terminal"},
}
"""What each lower layer may import of ours, itself aside."""

SERVICE = {"core", "store", "mux", "terminal"}
EDGE = {"core", "terminal", "http"}
PURE = {"core", "terminal"}

SHARED = {"mcp_server": ("tservice.client.errors", "tservice.client.mcp.")}
"""Beginnings of modules that a feature may import besides: the tools are the same by stdio."""

MADE_IN = {
    "PaneSpec": "tservice.sessions.life.launcher",
    "LaunchRequest": "tservice.sessions.life.launcher",
    "LaunchPlan": "tservice.clis.launcher",
    "CheckedOverrides": "tservice.clis.environments",
}
"""Where what comes to run in a pane is made, and nowhere else."""

MOST_FILES = 15
"""Files that stand side by side in a folder."""

LARGE_FOLDERS = {
    "agents/approvals": "one inbox; its answers and folders pass the same items to each other",
    "agents/transcripts": "five formats of transcripts beside the one reader that merges them",
    "agents/transcripts/conversation": "one reader of items for each of five formats",
    "cases": "steps of creation and removal, all on the same CaseOperations",
    "client/commands": "one file for each group of commands, listed by table.py",
    "clis": "one registry; nearly every file reads the records of model.py",
    "containers": "one engine; its starts already stand in life",
    "cron": "one scheduler with its routes; the next folder would hold two files",
    "hosts": "one connection to a host: its keys, master, links and waking",
    "mux": "the interface of panes, beside the two folders that implement it",
    "mux/tmux": "one control client; each file parses or writes one part of its dialogue",
}
"""Folders that hold more, up to C{MOST_FILES_LISTED}, and why they stay whole."""

MOST_FILES_LISTED = 25

GENERATED = "client/typed"
"""Folder of the generated client: one file for each group of operations."""

BANNED_CALLS = {
    ("time", "time"),
    ("time", "sleep"),
    ("time", "monotonic"),
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
}


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


@cache
def sources() -> dict[str, ast.Module]:
    return {
        module_name(path): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def is_program(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def walk_runtime(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs: what only a type checker reads makes no edge."""
    left = [node]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            if not is_type_checking(child):
                yield child
                left.append(child)


def imports(tree: ast.Module, known: set[str], *, types: bool = False) -> set[str]:
    """Our own modules that C{tree} imports when it runs, or C{types} too, when it is checked."""
    found: set[str] = set()
    for node in ast.walk(tree) if types else walk_runtime(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
    return {name for name in found if name.split(".")[0] == "tservice"}


def breaks_layers(module: str, imported: str) -> bool:
    """Whether C{module} may not know C{imported}."""
    mine, theirs = module.split("."), imported.split(".")
    if mine[1:2] in (["tap"], ["console"]) or theirs == ["tservice"]:
        return False
    if theirs[1] in ("tap", "console"):
        return True
    here, there = mine[1], theirs[1]
    role = role_of(mine)
    if here == there or role == "build":
        return False
    if there == "runtime":
        return True
    if imported.startswith(SHARED.get(here, ())):
        return False
    if here in BASE:
        return there not in BASE[here]
    if role == "model":
        return there not in PURE
    if role == "routes":
        return there not in EDGE
    if theirs[-1] == "interfaces":
        return False
    return there not in SERVICE


def called(node: ast.Call) -> str:
    """The last word of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def role_of(module: list[str]) -> str:
    """What a feature's module is for, told by its last name or by the room it stands in."""
    name = module[-1]
    if name in ("build", "build_waits") or module[1] == "runtime":
        return "build"
    if name == "model" or name.endswith("_model"):
        return "model"
    if name == "routes" or name.endswith("_routes") or module[-2] == "routes":
        return "routes"
    return "service"


def rooms(graph: dict[str, set[str]], feature: str) -> dict[str, set[str]]:
    """Which rooms of C{feature} know which: its folders, and each file beside them."""
    prefix = f"tservice.{feature}."
    folders = {
        ".".join(name.split(".")[:3])
        for name in graph
        if name.startswith(prefix) and name.count(".") > 2
    }

    def room(name: str) -> str:
        folder = ".".join(name.split(".")[:3])
        return folder if folder in folders else name

    found: dict[str, set[str]] = {}
    for name, others in graph.items():
        if name.startswith(prefix):
            inside = {room(other) for other in others if other.startswith(prefix)}
            found.setdefault(room(name), set()).update(inside - {room(name)})
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of imports, or an empty list."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph.get(name, ())):
            found = visit(other, [*path, name])
            if found:
                return found
        done.add(name)
        return []

    for name in sorted(graph):
        found = visit(name, [])
        if found:
            return found
    return []


def count_files() -> Counter[str]:
    """Return the number of Python files in each folder of the package that is written by hand."""
    counts = Counter(str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))
    del counts[GENERATED]
    return counts


def oversized_folders(counts: Mapping[str, int], listed: Collection[str]) -> list[str]:
    """Return the folders that hold more files than they may."""
    return sorted(
        name
        for name, count in counts.items()
        if count > (MOST_FILES_LISTED if name in listed else MOST_FILES)
    )


def reads_the_clock(node: ast.AST) -> bool:
    """Whether C{node} asks the machine's clock, or imports what does."""
    if isinstance(node, ast.ImportFrom):
        return any((node.module, alias.name) in BANNED_CALLS for alias in node.names)
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in BANNED_CALLS
    )


@cache
def known_imports(*, types: bool) -> dict[str, set[str]]:
    trees = sources()
    return {name: imports(tree, set(trees), types=types) for name, tree in trees.items()}


class ImportLayerTests(SynchronousTestCase):
    """The plan of the house holds for every file."""

    def setUp(self) -> None:
        self.trees = sources()
        self.graph = known_imports(types=False)
        self.typed = known_imports(types=True)

    def test_no_import_breaks_the_layers(self) -> None:
        wrong = [
            f"{module} imports {imported}"
            for module, others in sorted(self.graph.items())
            for imported in sorted(others)
            if breaks_layers(module, imported)
        ]
        self.assertEqual([], wrong)

    def test_no_import_circle_exists(self) -> None:
        """Nor one of imports that only a type checker reads."""
        self.assertEqual([], circle(self.typed))

    @pytest.mark.long
    def test_subpackages_import_each_other_in_one_direction(self) -> None:
        """The folders of a feature, and the files beside them, know each other in one order."""
        features = {name.split(".")[1] for name in self.graph if name.count(".") > 2}
        self.assertLess({"sessions", "agents", "core"}, features)
        wrong = {feature: circle(rooms(self.graph, feature)) for feature in features}
        self.assertEqual({}, {name: found for name, found in wrong.items() if found})

    def test_folders_hold_at_most_15_files_unless_listed_with_a_reason(self) -> None:
        self.assertEqual([], oversized_folders(count_files(), LARGE_FOLDERS))

    def test_listed_folders_are_large(self) -> None:
        """A folder that shrank leaves the list."""
        counts = count_files()
        self.assertEqual(set(), {name for name in LARGE_FOLDERS if counts[name] <= MOST_FILES})

    def test_only_tap_imports_the_reactor(self) -> None:
        wrong = [
            name
            for name, tree in self.trees.items()
            if name != "tservice.tap"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module == "twisted.internet"
            and any(alias.name == "reactor" for alias in node.names)
        ]
        self.assertEqual([], wrong)

    def test_only_the_clock_module_reads_the_time(self) -> None:
        """Also to a program of its own: by its last lines."""
        wrong = [
            f"{name}:{getattr(node, 'lineno', 0)}"
            for name, tree in self.trees.items()
            if name != "tservice.core.kernel.clock"
            for statement in tree.body
            if not is_program(statement)
            for node in ast.walk(statement)
            if reads_the_clock(node)
        ]
        self.assertEqual([], wrong)

    def test_panes_are_used_only_through_the_one_gate(self) -> None:
        """What a caller asks for is judged on the one way there is, whatever routes come to be."""
        wrong = [
            f"{name}:{node.lineno}"
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and MADE_IN.get(called(node), name) != name
        ]
        self.assertEqual([], wrong)

    def test_files_and_functions_are_within_their_size_limits(self) -> None:
        """No file over 500 lines, no function over 60."""
        wrong = [
            f"{name}.{node.name}"
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and (node.end_lineno or 0) - node.lineno + 1 > 60
        ]
        wrong += [
            str(path.relative_to(ROOT))
            for folder in (PACKAGE, ROOT / "tests", ROOT / "bench")
            for path in folder.rglob("*.py")
            if "node_modules" not in path.parts
            and path.read_text(encoding="utf-8").count("\n") > 500
        ]
        self.assertEqual([], wrong)


class LayerRuleTests(SynchronousTestCase):
    """The checks themselves can fail."""

    def test_forbidden_imports_are_detected(self) -> None:
        for module, imported in [
            ("tservice.core.x", "tservice.mux.y"),
            ("tservice.http.site", "tservice.sessions.service"),
            ("tservice.cron.service", "tservice.sessions.service"),
            ("tservice.cron.model", "tservice.store.database"),
            ("tservice.cron.routes", "tservice.store.database"),
            ("tservice.cron.service", "tservice.http.operations"),
            ("tservice.cron.service", "tservice.tap"),
            ("tservice.cron.fire_times.clock_model", "tservice.store.database"),
            ("tservice.sessions.waits.service", "tservice.http.operations"),
            ("tservice.cron.build", "tservice.tap"),
            ("tservice.cron.service", "tservice.runtime.runtime"),
            ("tservice.runtime.runtime", "tservice.tap.root"),
            ("tservice.mcp_server.routes", "tservice.client.commands.mcp"),
            ("tservice.client.mcp.protocol", "tservice.mcp_server.routes"),
            ("tservice.mcp.service", "tservice.client.mcp.protocol"),
        ]:
            self.assertTrue(breaks_layers(module, imported), (module, imported))

    def test_allowed_imports_pass(self) -> None:
        for module, imported in [
            ("tservice.tap", "tservice.cron.service"),
            ("tservice.cron.service", "tservice.sessions.interfaces"),
            ("tservice.cron.routes", "tservice.http.operations"),
            ("tservice.cron.routes", "tservice.cron.service"),
            ("tservice.mux.tmux.control_client", "tservice.mux.interface"),
            ("tservice.cron.build", "tservice.http.operations"),
            ("tservice.mux.build", "tservice.runtime.runtime"),
            ("tservice.runtime.feature", "tservice.http.operations"),
            ("tservice.sessions.waits.wait_routes", "tservice.http.operations"),
            ("tservice.sessions.routes.lifecycle_routes", "tservice.http.operations"),
            ("tservice.mcp_server.routes", "tservice.client.mcp.protocol"),
        ]:
            self.assertFalse(breaks_layers(module, imported), (module, imported))

    def test_oversized_folders_are_detected(self) -> None:
        counts = {"a": 15, "b": 16, "c": 25, "d": 26}
        self.assertEqual(["b", "d"], oversized_folders(counts, {"c", "d"}))

    def test_import_cycle_is_detected(self) -> None:
        self.assertEqual(["a", "b", "a"], circle({"a": {"b"}, "b": {"a"}}))
        self.assertEqual([], circle({"a": {"b"}, "b": set()}))

    def test_type_only_imports_make_no_edge_but_can_close_a_cycle(self) -> None:
        """But they can close a circle."""
        tree = ast.parse(
            "from tservice.core import a\nif TYPE_CHECKING:\n    from tservice.mux import b\n"
        )
        self.assertEqual({"tservice.core"}, imports(tree, set()))
        self.assertEqual({"tservice.core", "tservice.mux"}, imports(tree, set(), types=True))

    def test_packages_are_folders_with_the_files_next_to_them(self) -> None:
        graph = {
            "tservice.a.x.one": {"tservice.a.two", "tservice.core.z"},
            "tservice.a.two": {"tservice.a.x.three"},
            "tservice.a.x.three": set[str](),
        }
        found = rooms(graph, "a")
        self.assertEqual(
            {"tservice.a.x": {"tservice.a.two"}, "tservice.a.two": {"tservice.a.x"}}, found
        )
        self.assertEqual(["tservice.a.two", "tservice.a.x", "tservice.a.two"], circle(found))

    def test_clock_access_is_detected_in_any_spelling(self) -> None:
        for line in ["time.time()", "from time import monotonic", "datetime.now()"]:
            nodes = ast.walk(ast.parse(line))
            self.assertTrue(any(map(reads_the_clock, nodes)), line)
        self.assertFalse(any(map(reads_the_clock, ast.walk(ast.parse("import time")))))
