"""Every write that waits before it happens checks its caller again.

A right may end while a request waits.  The rule holds for each function that receives a C{Caller},
and for each handler of an operation: between an C{await} and the next write stands a call of
C{caller.reauthorize()}.  The functions are followed from the handlers by name.

A write is one of these calls:

  - a method of a store, registry, roster or similar (L{KEEPERS}), whose name begins with a verb of
    change (L{VERBS});
  - a function that writes a file (L{FILE_WRITERS});
  - a function that starts a program (L{STARTS});
  - a function of the same module that makes one of these calls and receives no caller.

The rule does not see a write in a function of another module that receives no caller and has no
such name.  Writes in C{except} and C{finally} undo what the call has done, and need no right.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from attrs import define, field
from twisted.trial.unittest import SynchronousTestCase

PACKAGE = Path(__file__).resolve().parents[2] / "tservice"

KEEPERS = ("store", "registry", "book", "roster", "orders", "inbox", "recollection", "keys")
"""Ends of the names of objects that keep state on disk."""

VERBS = ("add", "create", "delete", "insert", "mark", "put", "record", "remove", "replace", "save",
         "schedule", "set", "update", "write")  # fmt: skip
FILE_WRITERS = frozenset({"write_private_file", "replace_atomically", "write_file"})
STARTS = frozenset({"_register_session", "launch_pane", "begin_run", "start_child", "save_edit"})
READS = frozenset({"add_listener", "record_of"})

ALLOWED = {
    "agents/approvals/service.py:_answer_dialog": "notes what became of keys that were pressed",
    "cases/clones.py:_clone_to_staging": "plans the removal of its own staging folder",
    "cases/removal.py:remove_case": "ends a removal whose first step cannot be undone",
    "containers/service.py:create_container": "saved first, and removed if the right was lost",
    "cron/runner.py:_launch_and_deliver": "notes that the run has begun",
    "cron/runner.py:_launch_recording_failure": "notes that the launch has failed",
    "cron/runner.py:_launch_session": "notes the session that was created",
    "restore/service.py:_restore_session": "notes that the session was restored",
    "review/comments.py:_send_in_turn": "notes the comments that were sent",
    "review/reverting.py:undo_revert": "drops the copy that was brought back",
    "cron/timed_runs/service.py:_launch_run": "notes the session that was created, or its failure",
}
"""Functions that write after a wait on purpose, and why nobody gains a right by it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def last_name(node: ast.AST) -> str:
    """Return the last word of a name or attribute, or of what is called."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_write(call: ast.Call) -> bool:
    name = last_name(call)
    if name in FILE_WRITERS or name in STARTS:
        return True
    if not isinstance(call.func, ast.Attribute) or name in READS:
        return False
    keeper = last_name(call.func.value).rstrip("_")
    return keeper.endswith(KEEPERS) and name.lstrip("_").split("_")[0] in VERBS


def is_reauthorization(call: ast.Call) -> bool:
    return last_name(call) == "reauthorize"


def receives_caller(function: Function) -> bool:
    """Return whether C{function} receives the authority of a caller, itself or in a call."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return any(
        one.annotation is not None
        and ast.unparse(one.annotation) in ("Caller", "Caller | None", "OperationCall")
        for one in given
    )


@define
class Flow:
    """Walk through one function in the order in which it runs.

    @ivar followed: functions that receive a caller, by name.
    @ivar writers: names of functions of the module that write.
    @ivar stale: true if the function has waited since the caller was authorized.
    @ivar writes: lines of writes by a caller who may have lost the right.
    @ivar handed: names of functions that receive the caller, and whether it was stale then.
    """

    followed: Mapping[str, Sequence[Function]]
    writers: frozenset[str]
    stale: bool = False
    writes: list[int] = field(factory=list)
    handed: dict[str, bool] = field(factory=dict)

    def walk_block(self, block: Iterable[ast.stmt]) -> bool:
        """Return whether the block's end is reached."""
        return all(self._walk_statement(statement) for statement in block)

    def _walk_statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            self._walk_expression(node.test)
            return self._walk_branches([node.body, node.orelse])
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self._walk_expression(node.test if isinstance(node, ast.While) else node.iter)
            self.stale |= isinstance(node, ast.AsyncFor)
            # A second round begins as the first one ended.
            for _ in range(2):
                self._walk_branches([node.body, []])
            return self.walk_block(node.orelse)
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                self._walk_expression(item.context_expr)
            self.stale |= isinstance(node, ast.AsyncWith)
            return self.walk_block(node.body)
        if isinstance(node, ast.Try):
            return self._walk_try(node)
        if isinstance(node, ast.Match):
            self._walk_expression(node.subject)
            return self._walk_branches([*(case.body for case in node.cases), []])
        if isinstance(node, Function | ast.ClassDef):
            return True
        self._walk_expression(node)
        return not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)

    def _walk_branches(self, branches: Sequence[Sequence[ast.stmt]]) -> bool:
        before, ends = self.stale, list[bool]()
        for branch in branches:
            self.stale = before
            if self.walk_block(branch):
                ends.append(self.stale)
        self.stale = any(ends)
        return bool(ends)

    def _walk_try(self, node: ast.Try) -> bool:
        waits = any(isinstance(each, ast.Await) for each in ast.walk(node))
        goes_on = self.walk_block([*node.body, *node.orelse])
        written = list(self.writes)
        inside = self.stale
        for handler in node.handlers:
            self.stale |= waits
            goes_on |= self.walk_block(handler.body)
        self.walk_block(node.finalbody)
        self.writes = written
        self.stale |= inside or (waits and any(not ends(each) for each in node.handlers))
        return goes_on

    def _walk_expression(self, node: ast.AST) -> None:
        if isinstance(node, ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            self._walk_expression(child)
        if isinstance(node, ast.Await):
            self.stale = True
        elif isinstance(node, ast.Call):
            self._walk_call(node)

    def _walk_call(self, node: ast.Call) -> None:
        name = last_name(node)
        if is_reauthorization(node):
            self.stale = False
        elif name in self.followed and passes_caller(node):
            self.handed[name] = self.handed.get(name, False) or self.stale
            self.stale &= not all(begins_with_check(each) for each in self.followed[name])
        elif self.stale and (is_write(node) or is_own_method(node, self.writers)):
            self.writes.append(node.lineno)


def is_own_method(call: ast.Call, names: frozenset[str]) -> bool:
    """Return whether C{call} calls one of the functions C{names} of its module."""
    target = call.func
    own = isinstance(target, ast.Name) or (
        isinstance(target, ast.Attribute) and last_name(target.value) == "self"
    )
    return own and last_name(call) in names


def find_writers(tree: ast.Module) -> frozenset[str]:
    """Return the names of the functions of a module that write and receive no caller."""
    functions = [
        each for each in ast.walk(tree) if isinstance(each, Function) and not receives_caller(each)
    ]
    names = frozenset[str]()
    while True:
        more = frozenset(
            each.name
            for each in functions
            if any(
                isinstance(node, ast.Call) and (is_write(node) or is_own_method(node, names))
                for node in ast.walk(each)
            )
        )
        if more == names:
            return names
        names = more


def ends(handler: ast.ExceptHandler) -> bool:
    return isinstance(handler.body[-1], ast.Raise | ast.Return)


def passes_caller(call: ast.Call) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(last_name(one) in ("caller", "call", "by", "owner") for one in given)


def begins_with_check(function: Function) -> bool:
    """Return whether C{function} does not wait, and authorizes its caller."""
    return isinstance(function, ast.FunctionDef) and any(
        isinstance(node, ast.Call) and is_reauthorization(node) for node in ast.walk(function)
    )


def is_handler(function: Function) -> bool:
    """Return whether C{function} handles an operation that may change something."""
    return any(
        isinstance(one, ast.Call)
        and last_name(one) == "operation"
        and isinstance(one.args[0], ast.Constant)
        and one.args[0].value not in ("GET", "HEAD")
        for one in function.decorator_list
    )


def find_unchecked_writes(trees: Mapping[str, ast.Module]) -> list[str]:
    """Return the writes that handlers reach after a wait without another check."""
    found: dict[str, list[Function]] = {}
    files: dict[int, str] = {}
    handlers = list[Function]()
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, Function) and receives_caller(node):
                found.setdefault(node.name, []).append(node)
                files[id(node)] = name
                handlers += [node] if is_handler(node) else []
    writers = {name: find_writers(tree) for name, tree in trees.items()}
    wrong, seen = set[str](), set[tuple[int, bool]]()
    left: list[tuple[Function, bool]] = [(each, False) for each in handlers]
    while left:
        function, stale = left.pop()
        if (id(function), stale) in seen:
            continue
        seen.add((id(function), stale))
        flow = Flow(found, writers[files[id(function)]], stale)
        flow.walk_block(function.body)
        wrong |= {f"{files[id(function)]}:{function.name}:{line}" for line in flow.writes}
        left += [(each, late) for name, late in flow.handed.items() for each in found.get(name, ())]
    return sorted(wrong)


@cache
def sources() -> dict[str, ast.Module]:
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("client", "console")
    }


class ReauthorizationTests(SynchronousTestCase):
    def test_no_write_follows_a_wait_without_another_check(self) -> None:
        found = find_unchecked_writes(sources())
        self.assertEqual([], [each for each in found if each.rpartition(":")[0] not in ALLOWED])

    def test_every_exception_is_needed(self) -> None:
        found = {each.rpartition(":")[0] for each in find_unchecked_writes(sources())}
        self.assertEqual(set(), set(ALLOWED) - found)

    def test_handlers_of_all_features_are_followed(self) -> None:
        """A rule that finds no handlers cannot fail."""
        found = {
            name.split("/")[0]
            for name, tree in sources().items()
            for node in ast.walk(tree)
            if isinstance(node, Function) and receives_caller(node) and is_handler(node)
        }
        self.assertLess({"access", "agents", "cases", "cron", "hosts", "models", "sessions"}, found)


HANDLER = """
class Routes:
    @operation("POST", "/api/toys", _CHANGES)
    async def add_toy(self, call: OperationCall, body: ToyBody) -> EmptyPayload:
        await self._toys.add_toy(body.name, call.caller)
"""

SERVICE = """
class ToyService:
    async def add_toy(self, name: str, caller: Caller) -> None:
        {}

    def _save(self, name: str) -> None:
        self._store.save_toy(name)

    def _check(self, caller: Caller) -> None:
        caller.reauthorize()
"""


class ReauthorizationRuleTests(SynchronousTestCase):
    """The rule itself, on a route that somebody might write."""

    def found(self, *lines: str) -> list[str]:
        service = SERVICE.format("\n        ".join(lines))
        return find_unchecked_writes(
            {"toys/routes.py": ast.parse(HANDLER), "toys/service.py": ast.parse(service)}
        )

    def test_write_after_a_wait_is_found(self) -> None:
        for lines in (
            ("await self._look()", "self._store.save_toy(name)"),
            ("await self._look()", "self._save(name)"),
            ("async with self._lock:", "    self._store.save_toy(name)"),
            ("if name:", "    await self._look()", "self._store.save_toy(name)"),
            ("for one in name:", "    self._store.save_toy(one)", "    await self._look()"),
            ("caller.reauthorize()", "await self._look()", "self._store.save_toy(name)"),
            ("await self._look()", "if name:", "    caller.reauthorize()", "self._save(name)"),
            ("try:", "    await self._look()", "except KeyError:", "    pass", "self._save(name)"),
        ):
            self.assertEqual(1, len(self.found(*lines)), lines)

    def test_checked_write_passes(self) -> None:
        for lines in (
            ("self._store.save_toy(name)", "await self._look()"),
            ("await self._look()", "caller.reauthorize()", "self._store.save_toy(name)"),
            ("await self._look()", "self._check(caller)", "self._save(name)"),
            ("if name:", "    await self._look()", "    return", "self._store.save_toy(name)"),
            ("try:", "    await self._look()", "except KeyError:", "    self._save(name)"),
            ("await self._look()", "self._store.find_toy(name)"),
        ):
            self.assertEqual([], self.found(*lines), lines)

    def test_wait_before_the_caller_is_handed_on_counts(self) -> None:
        late = HANDLER.replace("await self._toys", "await self._look()\n        await self._toys")
        service = SERVICE.format("self._store.save_toy(name)")
        trees = {"toys/routes.py": ast.parse(late), "toys/service.py": ast.parse(service)}
        self.assertEqual(["toys/service.py:add_toy:4"], find_unchecked_writes(trees))
