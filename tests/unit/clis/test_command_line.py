"""Commands are built of checked words: a hostile value is refused, never an option or syntax."""

from __future__ import annotations

import re
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.clis.fakes import make_entry
from tservice.clis.command_line import build_argv, check_conversation_id, resolve_params
from tservice.clis.model import CliEntry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ErrorCode, ServiceError

STOCK = load_stock_entries()


def argv(
    entry: CliEntry, resume: str | None = None, granted: bool = True, **given: object
) -> tuple[str, ...]:
    params, _ = resolve_params(entry, given, granted=granted)
    return build_argv(entry, "/bin/it", params, resume)


class ArgvBuildTests(SynchronousTestCase):
    """From parameters to words."""

    def test_first_argument_is_replaced_by_the_program(self) -> None:
        self.assertEqual(("/bin/it", "-l"), argv(STOCK["shell"]))
        self.assertEqual(("/bin/it", "-v"), argv(make_entry(argv=["-v"])))
        self.assertEqual(("/bin/it", "bash"), argv(make_entry(argv=["bash"])))

    def test_flags_of_every_type_are_built(self) -> None:
        entry = make_entry(
            params={
                "model": {"type": "token", "flag": "--model"},
                "n": {"type": "int", "flag": "--n="},
                "fast": {"type": "bool", "flag": "--fast"},
                "mode": {"type": "enum", "values": ["a", "b"], "flag": "-m", "default": "b"},
                "note": {"type": "token"},
            }
        )
        self.assertEqual(("/bin/it", "-m", "b"), argv(entry))
        self.assertEqual(
            ("/bin/it", "--model", "x[1m]", "--n=0", "--fast", "-m", "a"),
            argv(entry, mode="a", fast=True, n=0, model="x[1m]", note="unused"),
        )
        self.assertEqual(("/bin/it", "-m", "b"), argv(entry, fast=False, model=None, mode=None))

    def test_placeholders_are_filled(self) -> None:
        entry = make_entry(
            argv=["x", "run", "--as={who}:{n}", "{who}", "end"],
            params={
                "who": {"type": "token", "flag": "--who"},
                "n": {"type": "int", "default": 2},
            },
        )
        self.assertEqual(("/bin/it", "run", "--as=me:2", "me", "end"), argv(entry, who="me"))
        self.assertEqual(("/bin/it", "run", "end"), argv(entry))

    def test_resume_arguments_are_added(self) -> None:
        one = "0a1b-2c"
        self.assertEqual(
            ("/bin/it", "--resume", one, "--permission-mode", "plan"),
            argv(STOCK["primary"], resume=one, permissionMode="plan"),
        )
        self.assertEqual(
            ("/bin/it", "--no-daemon", "resume", one, "--config=model_reasoning_effort=high"),
            argv(STOCK["codex"], resume=one, effort="high"),
        )

    def test_unsafe_resume_ids_are_refused(self) -> None:
        for conversation in ("-c", "", "a b", "a" * 101, "../a", "a\n", "$(id)"):
            error = self.assertRaises(
                ServiceError, check_conversation_id, STOCK["primary"], conversation
            )
            self.assertTrue(error.message.startswith("resumeSessionId: "))
        check_conversation_id(STOCK["opencode"], "ses_4fA")
        self.assertRaises(ServiceError, check_conversation_id, STOCK["shell"], "0a")


class ParamTests(SynchronousTestCase):
    """What may be chosen, and by whom."""

    def refusal(
        self, entry: CliEntry, wanted: dict[str, object], granted: bool = True
    ) -> ServiceError:
        error: ServiceError = self.assertRaises(
            ServiceError, resolve_params, entry, wanted, granted=granted
        )
        return error

    def test_refused_parameters_are_named(self) -> None:
        entry = STOCK["primary"]
        for name, value in (
            ("model", "-x"),
            ("model", "a b"),
            ("model", "x" * 51),
            ("model", 3),
            ("model", ["a"]),
            ("effort", "huge"),
            ("permissionMode", True),
            ("other", "a"),
        ):
            error = self.refusal(entry, {name: value})
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
            self.assertTrue(error.message.startswith(f"params.{name}: "), error.message)

    def test_number_and_boolean_parameters_are_strict(self) -> None:
        entry = make_entry(params={"n": {"type": "int"}, "b": {"type": "bool"}})
        bad: list[tuple[str, object]] = [
            ("n", True),
            ("n", -1),
            ("n", 2**31),
            ("n", "1"),
            ("n", 1.0),
            ("b", 1),
        ]
        for name, value in bad:
            self.refusal(entry, {name: value})

    def test_values_above_the_grant_are_lowered(self) -> None:
        for mode, name, value, lowered in (
            ("primary", "permissionMode", "bypassPermissions", "auto"),
            ("codex", "sandbox", "danger-full-access", "workspace-write"),
            ("codex", "bypass", True, False),
            ("codex", "approvalPolicy", "never", "on-request"),
            ("gemini", "approvalMode", "yolo", "default"),
            ("opencode", "autoApprove", True, False),
            ("antigravity", "skipPermissions", True, False),
        ):
            entry, given = STOCK[mode], {name: value}
            self.assertEqual((given, ()), resolve_params(entry, given, granted=True))
            self.assertEqual(
                ({name: lowered}, (name,)), resolve_params(entry, given, granted=False)
            )

    def test_parameters_within_the_grant_are_kept(self) -> None:
        for mode in ("plan", "auto"):
            given = {"permissionMode": mode}
            self.assertEqual((given, ()), resolve_params(STOCK["primary"], given, granted=False))
        off = {"bypass": False}
        self.assertEqual((off, ()), resolve_params(STOCK["codex"], off, granted=False))

    def test_default_parameters_need_the_grant_too(self) -> None:
        entry = make_entry(
            params={
                "m": {
                    "type": "enum",
                    "values": ["a", "b"],
                    "default": "b",
                    "privileged": ["b"],
                    "clampTo": "a",
                }
            }
        )
        self.assertEqual(({"m": "a"}, ("m",)), resolve_params(entry, {}, granted=False))

    def test_privileged_value_without_a_substitute_is_refused(self) -> None:
        entry = make_entry(params={"m": {"type": "token", "privileged": True}})
        error = self.refusal(entry, {"m": "a"}, granted=False)
        self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        self.assertEqual(({}, ()), resolve_params(entry, {}, granted=False))


values = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="-=;&|$`'\"\\ \n\t\0*?{}~<>()a1", max_size=20),
    st.sampled_from(["--help", "-c", "opus", "opus[1m]", "a/b", "bypassPermissions", "high"]),
    st.booleans(),
    st.integers(),
    st.none(),
    st.lists(st.text(), max_size=2),
)


class ArgvProperties(SynchronousTestCase):
    """Whatever is asked for, the command holds the entry's options and harmless words only."""

    @settings(max_examples=example_count(200), deadline=None)
    @given(
        st.sampled_from(sorted(STOCK)),
        st.data(),
        st.booleans(),
        st.none() | st.text(max_size=40) | st.from_regex(r"\A[0-9a-f-]{1,36}\Z"),
    )
    def test_no_parameter_value_becomes_an_option_or_shell_syntax(
        self, mode: str, data: st.DataObject, granted: bool, resume: str | None
    ) -> None:
        entry = STOCK[mode]
        given = data.draw(st.dictionaries(st.sampled_from([*entry.params, "zz"]), values))
        try:
            params, _ = resolve_params(entry, given, granted=granted)
            if resume is not None:
                check_conversation_id(entry, resume)
        except ServiceError as error:
            self.assertRegex(error.message, r"^(params\.|resumeSessionId)")
            return
        built = build_argv(entry, "/bin/it", params, resume)
        flags = {param.flag for param in entry.params.values() if param.flag}
        own = {*entry.argv, *(entry.resume.argv if entry.resume else ())}
        for word in built[1:]:
            self.assertEqual([word], shlex.split(word))
            self.assertIsNone(re.search(r"[\s;&|$`'\"\\*?{}~<>()!#\0]", word), word)
            if word.startswith("-"):
                self.assertTrue(
                    word in flags | own
                    or any(f.endswith("=") and word.startswith(f) for f in flags)
                )
        for name, value in params.items():
            self.assertTrue(granted or not entry.params[name].needs_grant(value), name)

    @settings(max_examples=example_count(200), deadline=None)
    @given(st.dictionaries(st.sampled_from(sorted(STOCK["codex"].params)), values))
    def test_parameters_are_accepted_completely_or_refused_for_a_wrong_value(
        self, wanted: dict[str, object]
    ) -> None:
        entry = STOCK["codex"]
        here = {name: value for name, value in wanted.items() if value is not None}
        broken = {
            name for name, value in here.items() if entry.params[name].find_broken_rule(value)
        }
        try:
            params, _ = resolve_params(entry, wanted, granted=True)
        except ServiceError as error:
            self.assertIn(error.message.split(":")[0].removeprefix("params."), broken)
        else:
            self.assertEqual(set(), broken)
            self.assertEqual(here, params)
