"""What reaches a pane's environment, and what never does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.clis.fakes import PANE, make_entry
from tests.unit.clis.hostile_variables import HOSTILE
from tservice.clis.environments import (
    OVERRIDE_BYTES,
    OVERRIDES,
    CheckedOverrides,
    build_added_environment,
    build_inherited_environment,
    check_overrides,
    remove_service_variables,
)
from tservice.clis.field_types import REFUSED_ENV
from tservice.clis.model import CliEntry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ErrorCode, ServiceError

STOCK = load_stock_entries()
ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-kitty",
    "COLORTERM": "24bit",
    "TERM_PROGRAM": "iTerm.app",
    "LC_TERMINAL": "iTerm2",
    "XDG_SESSION_TYPE": "tty",
    "KITTY_WINDOW_ID": "1",
    "XDG_RUNTIME_DIR": "/run/u",
    "ANTHROPIC_API_KEY": "sk",
    "OPENAI_API_KEY": "ok",
    "CLAUDECODE": "1",
    "CLAUDE_CONFIG_DIR": "/c",
    "DATABASE_PASSWORD": "hidden",
    "LD_PRELOAD": "/evil.so",
    "NODE_OPTIONS": "--inspect",
    "SERVICE_PASSWORD": "hidden",
    "SERVICE_SESSION_ID": "of-another",
    "EDITOR": "vi",
}
FOUR = {"SERVICE_MUX", "SERVICE_SESSION_ID", "SERVICE_API_URL", "SERVICE_HOOK_SECRET_FILE"}


class BaseTests(SynchronousTestCase):
    """What passes from the service to a pane."""

    def names(self, mode: str, extra: tuple[str, ...] = ()) -> set[str]:
        return set(build_inherited_environment(ENVIRON, STOCK[mode], extra))

    def test_allow_list_and_mode_variables_pass(self) -> None:
        common = {"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}
        self.assertEqual(common | {"ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"}, self.names("primary"))
        self.assertEqual(common | {"OPENAI_API_KEY"}, self.names("codex"))

    def test_shell_may_override_anything_but_inherits_nothing_more(self) -> None:
        self.assertEqual({"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}, self.names("shell"))

    def test_terminal_variables_of_the_service_do_not_pass(self) -> None:
        """Also where the operator lets everything through; an entry may name one."""
        self.assertNotIn("TERM", self.names("shell", ("TERM", "COLORTERM")))
        entry = make_entry(env={"set": {"TERM": "vt100"}})
        self.assertEqual(
            "vt100",
            build_added_environment(entry, check_overrides(entry, {}, granted=True), PANE)["TERM"],
        )

    def test_names_listed_by_the_operator_pass(self) -> None:
        extra = ("EDITOR", "SERVICE_PASSWORD", "LD_PRELOAD", "ABSENT")
        self.assertEqual({"EDITOR"}, self.names("shell", extra) - self.names("shell"))

    def test_variables_of_the_service_are_removed(self) -> None:
        kept = set(ENVIRON) - {"SERVICE_PASSWORD", "SERVICE_SESSION_ID"}
        self.assertEqual(kept, set(remove_service_variables(ENVIRON)))


class AdditionTests(SynchronousTestCase):
    """What is put in."""

    def test_service_variables_take_precedence(self) -> None:
        entry = make_entry(env={"set": {"A": "1", "B": "1"}, "allowedPrefixes": ["*"]})
        self.assertEqual(
            {
                "A": "1",
                "B": "2",
                "SERVICE_MUX": "1",
                "SERVICE_SESSION_ID": "s-1",
                "SERVICE_API_URL": "http://127.0.0.1:1",
                "SERVICE_HOOK_SECRET_FILE": "/d/hook-secret",
            },
            build_added_environment(entry, check_overrides(entry, {"B": "2"}, granted=True), PANE),
        )


class EnvironmentOverrideTests(SynchronousTestCase):
    """The rules of C{envOverrides}."""

    def refusal(self, entry: CliEntry, overrides: dict[str, str]) -> str:
        error = self.assertRaises(ServiceError, check_overrides, entry, overrides, granted=True)
        self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
        return str(error.message)

    def judge(self, mode: str, overrides: dict[str, str]) -> None:
        self.assertEqual(
            CheckedOverrides(overrides), check_overrides(STOCK[mode], overrides, granted=True)
        )

    def test_keys_of_the_mode_are_allowed(self) -> None:
        self.judge("primary", {"ANTHROPIC_MODEL": "x", "CLAUDE_CODE_X": ""})
        self.judge("shell", {"ANYTHING": "at all\nreally"})

    def test_refused_environment_names_the_key_and_hides_the_value(self) -> None:
        for mode, name in (
            ("primary", "OPENAI_API_KEY"),
            ("primary", "anthropic_model"),
            ("shell", "PATH"),
            ("shell", "LD_PRELOAD"),
            ("shell", "LD_LIBRARY_PATH"),
            ("shell", "PYTHONPATH"),
            ("shell", "NODE_OPTIONS"),
            ("shell", "SERVICE_SESSION_ID"),
            ("shell", "SERVICE_"),
        ):
            text = self.refusal(STOCK[mode], {name: "s3cret"})
            self.assertTrue(text.startswith(f"envOverrides.{name}: "), text)
            self.assertNotIn("s3cret", text)

    def test_custom_entries_allow_no_overrides(self) -> None:
        self.refusal(make_entry(), {"A": "1"})

    def test_impossible_names_and_values_are_refused(self) -> None:
        shell = STOCK["shell"]
        for name in ("", "A=B", "A B", "1A", "A\0", "A\n", "Ä", "A" * 129):
            self.assertTrue(self.refusal(shell, {name: ""}).startswith("envOverrides: "))
        self.assertIn("NUL", self.refusal(shell, {"A": "a\0b"}))
        self.assertIn("Unicode", self.refusal(shell, {"A": "\ud800"}))

    def test_overrides_are_bounded(self) -> None:
        shell = STOCK["shell"]
        self.judge("shell", {f"A{n}": "" for n in range(OVERRIDES)})
        self.refusal(shell, {f"A{n}": "" for n in range(OVERRIDES + 1)})
        self.judge("shell", {"A": "x" * (OVERRIDE_BYTES - 1)})
        self.refusal(shell, {"A": "x" * OVERRIDE_BYTES})


class OverrideGrantTests(SynchronousTestCase):
    """What accounts without the grant may set."""

    def refusal(self, entry: CliEntry, overrides: dict[str, str]) -> ServiceError:
        error: ServiceError = self.assertRaises(
            ServiceError, check_overrides, entry, overrides, granted=False
        )
        return error

    def test_harmless_names_need_no_grant(self) -> None:
        wanted = dict.fromkeys(
            (
                "DISABLE_TELEMETRY",
                "DISABLE_AUTOUPDATER",
                "DISABLE_ERROR_REPORTING",
                "MAX_THINKING_TOKENS",
                "BASH_DEFAULT_TIMEOUT_MS",
                "MCP_TIMEOUT",
            ),
            "1",
        )
        judged = check_overrides(STOCK["primary"], wanted, granted=False)
        self.assertEqual(wanted, judged.values)

    def test_every_prefix_of_every_entry_needs_the_grant(self) -> None:
        """Hostile names, and what else a prefix lets in: nothing passes but what is listed."""
        for mode, entry in STOCK.items():
            hostile = HOSTILE[mode]
            self.assertFalse(set(hostile) & set(entry.env.harmless), mode)
            for prefix in entry.env.allowed_prefixes:
                covered = [name for name in hostile if prefix == "*" or name.startswith(prefix)]
                self.assertTrue(covered, f"{mode}: nothing hostile is known for {prefix}")
                made = [prefix.replace("*", "ANY") + rest for rest in ("", "X", "_BASE_URL")]
                for name in {*covered, *made} - set(entry.env.harmless):
                    value = hostile.get(name, "s3cret")
                    check_overrides(entry, {name: value}, granted=True)
                    error = self.refusal(entry, {name: value})
                    self.assertEqual(ErrorCode.FORBIDDEN, error.code)
                    self.assertTrue(error.message.startswith(f"envOverrides.{name}: "))
                    self.assertNotIn("s3cret", error.message)

    def test_one_privileged_name_among_harmless_ones_is_refused(self) -> None:
        overrides = {"DISABLE_TELEMETRY": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
        self.assertIn("ANTHROPIC_BASE_URL", self.refusal(STOCK["primary"], overrides).message)

    def test_names_forbidden_to_everyone_are_invalid_input(self) -> None:
        for name in (*REFUSED_ENV, "SERVICE_X", "NOT_OF_THIS_MODE"):
            error = self.refusal(STOCK["primary"], {name: "x"})
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code, name)

    def test_custom_cli_has_no_harmless_variables(self) -> None:
        entry = make_entry(env={"allowedPrefixes": ["*"]})
        self.assertEqual(ErrorCode.FORBIDDEN, self.refusal(entry, {"DISABLE_X": "1"}).code)
        own = make_entry(env={"allowedPrefixes": ["*"], "harmless": ["DISABLE_X"]})
        check_overrides(own, {"DISABLE_X": "1"}, granted=False)
        self.assertEqual(ErrorCode.FORBIDDEN, self.refusal(own, {"DISABLE_XY": "1"}).code)


names = st.one_of(
    st.text(max_size=20),
    st.sampled_from(sorted(REFUSED_ENV | FOUR)),
    st.sampled_from(sorted(name for entry in STOCK.values() for name in entry.env.harmless)),
    st.sampled_from(["ANTHROPIC_", "CODEX_", "GEMINI_", "SERVICE_", "LD_"]).flatmap(
        lambda prefix: st.text(alphabet="ABZ_09=", max_size=6).map(lambda rest: prefix + rest)
    ),
)


class EnvironmentProperties(SynchronousTestCase):
    """For every mode and every override."""

    @settings(max_examples=example_count(200), deadline=None)
    @given(
        st.sampled_from(sorted(STOCK)),
        st.dictionaries(names, st.text(max_size=20), max_size=4),
        st.booleans(),
    )
    def test_accepted_overrides_change_neither_identity_nor_program(
        self, mode: str, overrides: dict[str, str], granted: bool
    ) -> None:
        entry = STOCK[mode]
        try:
            judged = check_overrides(entry, overrides, granted=granted)
        except ServiceError as error:
            self.assertTrue(error.message.startswith("envOverrides"))
            return
        added = build_added_environment(entry, judged, PANE)
        self.assertEqual(PANE.session_id, added["SERVICE_SESSION_ID"])
        self.assertEqual(FOUR, {name for name in added if name.startswith("SERVICE_")})
        self.assertFalse(REFUSED_ENV & set(added))
        self.assertTrue(granted or set(overrides) <= set(entry.env.harmless))
        for name, value in overrides.items():
            self.assertEqual(value, added[name])
            self.assertRegex(name, r"\A[A-Za-z_][A-Za-z0-9_]*\Z")

    @settings(max_examples=example_count(200), deadline=None)
    @given(
        st.sampled_from(sorted(STOCK)),
        st.dictionaries(names | st.sampled_from(sorted(ENVIRON)), st.just("v"), max_size=8),
        st.lists(names, max_size=3).map(tuple),
    )
    def test_no_service_variable_passes(
        self, mode: str, environ: dict[str, str], extra: tuple[str, ...]
    ) -> None:
        base = build_inherited_environment(environ, STOCK[mode], extra)
        self.assertFalse([name for name in base if name.startswith("SERVICE_")])
        self.assertFalse((REFUSED_ENV - {"PATH"}) & set(base))
        self.assertTrue(base.items() <= environ.items())
