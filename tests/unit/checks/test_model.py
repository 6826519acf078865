"""Rules of checks that need no effects."""

from __future__ import annotations

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.checks.checks_harness import LINT, TESTS
from tservice.checks.model import (
    COMMAND_LENGTH,
    MAX_ATTEMPTS,
    MAX_CHECKS,
    MAX_PATHS,
    MAX_SECONDS,
    NAME_LENGTH,
    PATH_LENGTH,
    Check,
    CheckResult,
    CheckState,
    RunState,
    check_attempts,
    check_definitions,
    conclude_run,
    select_checks,
)
from tservice.core.kernel.errors import ServiceError


class DefinitionTests(SynchronousTestCase):
    def refuse(self, field: str, *checks: Check) -> None:
        error = self.assertRaises(ServiceError, check_definitions, checks)
        self.assertEqual((400, field), (error.status, error.message.split(":")[0]))

    def test_checks_at_the_bounds_are_accepted(self) -> None:
        widest = Check(
            name="a" * NAME_LENGTH, command="x" * COMMAND_LENGTH, timeout_seconds=MAX_SECONDS,
            paths=("p" * PATH_LENGTH,) * MAX_PATHS,
        )  # fmt: skip
        many = [evolve(widest, name=f"check {number}") for number in range(MAX_CHECKS)]
        self.assertEqual(tuple(many), check_definitions(many))
        self.assertEqual((0, 5), (check_attempts(0), check_attempts(MAX_ATTEMPTS)))

    def test_refused_field_is_named(self) -> None:
        for fields, field in (
            ({"name": ""}, "name"), ({"name": "a" * (NAME_LENGTH + 1)}, "name"),
            ({"name": "-x"}, "name"), ({"name": "a\nb"}, "name"),
            ({"command": " \n"}, "command"), ({"command": "x" * (COMMAND_LENGTH + 1)}, "command"),
            ({"command": "a\0b"}, "command"), ({"command": "a\x1b[0m"}, "command"),
            ({"command": "\ud800"}, "command"),
            ({"timeout_seconds": 0}, "timeoutSeconds"),
            ({"timeout_seconds": MAX_SECONDS + 1}, "timeoutSeconds"),
            ({"paths": ("a",) * (MAX_PATHS + 1)}, "paths"),
            ({"paths": ("a", "/etc/*")}, "paths.1"), ({"paths": ("../x",)}, "paths.0"),
            ({"paths": ("",)}, "paths.0"), ({"paths": ("a\n",)}, "paths.0"),
            ({"paths": ("a" * (PATH_LENGTH + 1),)}, "paths.0"),
        ):  # fmt: skip
            self.refuse(f"checks.1.{field}", TESTS, evolve(LINT, **fields))
        self.refuse("checks.1.name", TESTS, evolve(LINT, name="Tests"))
        many = [evolve(TESTS, name=f"c{number}") for number in range(MAX_CHECKS + 1)]
        self.refuse("checks", *many)
        for attempts in (-1, MAX_ATTEMPTS + 1):
            error = self.assertRaises(ServiceError, check_attempts, attempts)
            self.assertIn("maxAttempts", error.message)


class ResultTests(SynchronousTestCase):
    def test_worst_result_decides(self) -> None:
        for states, wanted in (
            (("passed", "passed"), RunState.GREEN),
            (("passed", "timed_out"), RunState.RED),
            (("flooded", "unavailable"), RunState.RED),
            (("passed", "unavailable"), RunState.UNAVAILABLE),
            (("failed", "cancelled"), RunState.CANCELLED),
            (("failed", "interrupted"), RunState.INTERRUPTED),
        ):
            found = [CheckResult(name="x", command="y", state=CheckState(each)) for each in states]
            self.assertEqual(wanted, conclude_run(found), states)

    def test_only_settled_results_of_the_same_command_are_kept(self) -> None:
        red = CheckResult(name="lint", command="make lint", state=CheckState.FAILED)
        for before, changed, kept in (
            (red, {"src/a"}, True),
            (red, {"web/a.ts"}, False),
            (red, None, False),
            (evolve(red, command="other"), {"src/a"}, False),
            (evolve(red, state=CheckState.CANCELLED), {"src/a"}, False),
        ):
            (found,) = select_checks([LINT], [before], changed)
            self.assertEqual(kept, found.is_kept, (before, changed))
