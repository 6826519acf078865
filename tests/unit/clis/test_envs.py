"""What reaches a pane's environment, and what never does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.clis.fakes import PANE, make_entry
from tservice.clis.envs import (
    OVERRIDE_BYTES,
    OVERRIDES,
    additions,
    base_environment,
    check_overrides,
    without_service,
)
from tservice.clis.model import Entry
from tservice.clis.stock import stock_entries
from tservice.clis.words import REFUSED_ENV
from tservice.core.errors import ErrorCode, ServiceError

STOCK = stock_entries()
ENVIRON = {
    "PATH": "/bin",
    "HOME": "/home/u",
    "LC_ALL": "C.UTF-8",
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
        return set(base_environment(ENVIRON, STOCK[mode], extra))

    def test_allow_list_and_the_modes_own(self) -> None:
        common = {"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}
        self.assertEqual(common | {"ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR"}, self.names("primary"))
        self.assertEqual(common | {"OPENAI_API_KEY"}, self.names("codex"))

    def test_a_shell_may_override_anything_but_is_passed_nothing_more(self) -> None:
        self.assertEqual({"PATH", "HOME", "LC_ALL", "XDG_RUNTIME_DIR"}, self.names("shell"))

    def test_names_of_the_operator(self) -> None:
        extra = ("EDITOR", "SERVICE_PASSWORD", "LD_PRELOAD", "ABSENT")
        self.assertEqual({"EDITOR"}, self.names("shell", extra) - self.names("shell"))

    def test_without_service(self) -> None:
        kept = set(ENVIRON) - {"SERVICE_PASSWORD", "SERVICE_SESSION_ID"}
        self.assertEqual(kept, set(without_service(ENVIRON)))


class AdditionTests(SynchronousTestCase):
    """What is put in."""

    def test_the_four_keys_win(self) -> None:
        entry = make_entry(env={"set": {"A": "1", "B": "1"}, "allowedPrefixes": ["B"] * 0})
        self.assertEqual(
            {
                "A": "1",
                "B": "2",
                "SERVICE_MUX": "1",
                "SERVICE_SESSION_ID": "s-1",
                "SERVICE_API_URL": "http://127.0.0.1:1",
                "SERVICE_HOOK_SECRET_FILE": "/d/hook-secret",
            },
            additions(entry, {"B": "2"}, PANE),
        )


class OverrideTests(SynchronousTestCase):
    """The rules of C{envOverrides}."""

    def refusal(self, entry: Entry, overrides: dict[str, str]) -> str:
        error = self.assertRaises(ServiceError, check_overrides, entry, overrides)
        self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
        return str(error.message)

    def test_the_modes_keys_are_allowed(self) -> None:
        check_overrides(STOCK["primary"], {"ANTHROPIC_MODEL": "x", "CLAUDE_CODE_X": ""})
        check_overrides(STOCK["shell"], {"ANYTHING": "at all\nreally"})

    def test_refusals_name_the_key_and_hide_the_value(self) -> None:
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

    def test_custom_entries_allow_nothing(self) -> None:
        self.refusal(make_entry(), {"A": "1"})

    def test_names_and_values_that_no_process_can_have(self) -> None:
        shell = STOCK["shell"]
        for name in ("", "A=B", "A B", "1A", "A\0", "A\n", "Ä", "A" * 129):
            self.assertTrue(self.refusal(shell, {name: ""}).startswith("envOverrides: "))
        self.assertIn("NUL", self.refusal(shell, {"A": "a\0b"}))
        self.assertIn("Unicode", self.refusal(shell, {"A": "\ud800"}))

    def test_bounds(self) -> None:
        shell = STOCK["shell"]
        check_overrides(shell, {f"A{n}": "" for n in range(OVERRIDES)})
        self.refusal(shell, {f"A{n}": "" for n in range(OVERRIDES + 1)})
        check_overrides(shell, {"A": "x" * (OVERRIDE_BYTES - 1)})
        self.refusal(shell, {"A": "x" * OVERRIDE_BYTES})


names = st.one_of(
    st.text(max_size=20),
    st.sampled_from(sorted(REFUSED_ENV | FOUR)),
    st.sampled_from(["ANTHROPIC_", "CODEX_", "GEMINI_", "SERVICE_", "LD_"]).flatmap(
        lambda prefix: st.text(alphabet="ABZ_09=", max_size=6).map(lambda rest: prefix + rest)
    ),
)


class EnvironmentProperties(SynchronousTestCase):
    """For every mode and every override."""

    @settings(max_examples=200, deadline=None)
    @given(st.sampled_from(sorted(STOCK)), st.dictionaries(names, st.text(max_size=20), max_size=4))
    def test_accepted_overrides_cannot_change_who_it_is_or_what_runs(
        self, mode: str, overrides: dict[str, str]
    ) -> None:
        entry = STOCK[mode]
        try:
            check_overrides(entry, overrides)
        except ServiceError as error:
            self.assertTrue(error.message.startswith("envOverrides"))
            return
        added = additions(entry, overrides, PANE)
        self.assertEqual(PANE.session_id, added["SERVICE_SESSION_ID"])
        self.assertEqual(FOUR, {name for name in added if name.startswith("SERVICE_")})
        self.assertFalse(REFUSED_ENV & set(added))
        for name, value in overrides.items():
            self.assertEqual(value, added[name])
            self.assertRegex(name, r"\A[A-Za-z_][A-Za-z0-9_]*\Z")

    @settings(max_examples=200, deadline=None)
    @given(
        st.sampled_from(sorted(STOCK)),
        st.dictionaries(names | st.sampled_from(sorted(ENVIRON)), st.just("v"), max_size=8),
        st.lists(names, max_size=3).map(tuple),
    )
    def test_nothing_of_the_service_passes(
        self, mode: str, environ: dict[str, str], extra: tuple[str, ...]
    ) -> None:
        base = base_environment(environ, STOCK[mode], extra)
        self.assertFalse([name for name in base if name.startswith("SERVICE_")])
        self.assertFalse((REFUSED_ENV - {"PATH"}) & set(base))
        self.assertTrue(base.items() <= environ.items())
