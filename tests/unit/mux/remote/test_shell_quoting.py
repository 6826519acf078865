"""Words that mean something to a shell, through real ones."""

from __future__ import annotations

import shutil
import subprocess

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.mux.remote.shell_quoting import (
    HEARING,
    MARK,
    SPOKEN,
    build_export_commands,
    join_shell_commands,
    quote_word,
    quote_words,
)

_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "tcsh", "bsd-csh", "busybox")
SHELLS = [name for name in _SHELLS if shutil.which(name)]
"""Login shells that this machine has; the program itself is always for sh."""

HOSTILE = (
    b"",
    b" ",
    b"-rf",
    b"a b",
    b"it's",
    b'"',
    b"$(touch x)",
    b"`touch x`",
    b"${HOME}",
    b"\\",
    b"\\n\\",
    b"a\nb\n",
    b"\n",
    b"\r\t",
    b"~",
    b"*",
    b"!!",
    b";&|<>(){}#",
    b"%s\\033",
    "ü€😀\u202e".encode(),
    b"\x80\x81\x84\x88\xff",
    b"\x01\x1b\x7f",
    b"tservice_nl",
    b"'\"'\"'",
)

_WORDS = st.lists(
    st.one_of(
        st.sampled_from(HOSTILE),
        st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")),
        st.text(alphabet="'\"\\$`\n !~*;-%éa", max_size=12).map(str.encode),
    ),
    min_size=1,
    max_size=6,
)


def heard(shell: str, program: bytes, more: bytes = b"") -> bytes:
    """What a program prints that somebody's login shell of that kind is handed."""
    start = [shell, "sh"] if shell == "busybox" else [shell]
    done = subprocess.run([*start, "-c", SPOKEN], input=program + more, capture_output=True)
    assert done.stderr == MARK, done.stderr
    assert done.stdout.startswith(MARK), done.stdout
    return done.stdout.removeprefix(MARK)


class QuoteTests(SynchronousTestCase):
    """L{join_shell_commands}, L{quote_words} and L{build_export_commands}."""

    def test_every_login_shell_passes_hostile_words_on(self) -> None:
        program = join_shell_commands(b"printf '%s\\0' " + quote_words(*HOSTILE))
        for shell in SHELLS:
            self.assertEqual([*HOSTILE, b""], heard(shell, program).split(b"\0"), shell)

    @settings(max_examples=example_count(15), deadline=None)
    @given(_WORDS)
    def test_any_words_reach_the_remote_program(self, given_words: list[bytes]) -> None:
        program = join_shell_commands(b"printf '%s\\0' " + quote_words(*given_words))
        self.assertEqual(1, program.count(b"\n"))
        for shell in ("sh", "bash"):
            self.assertEqual([*given_words, b""], heard(shell, program).split(b"\0"))

    @settings(max_examples=example_count(10), deadline=None)
    @given(_WORDS)
    def test_nested_command_line_is_quoted(self, given_words: list[bytes]) -> None:
        """As what starts a pane's program travels: one line inside of another's variable."""
        inner = join_shell_commands(b"printf '%s\\0' " + quote_words(*given_words))
        outer = join_shell_commands(build_export_commands({b"A_1": inner}), b'exec sh -c "$A_1"')
        self.assertEqual([*given_words, b""], heard("sh", outer).split(b"\0"))

    def test_variables_reach_the_remote_program(self) -> None:
        env = {b"V_%d" % at: word for at, word in enumerate(HOSTILE)}
        told = heard("sh", join_shell_commands(build_export_commands(env), b"exec env -0")).split(
            b"\0"
        )
        for name, value in env.items():
            self.assertIn(name + b"=" + value, told)

    def test_input_after_the_command_line_reaches_the_program(self) -> None:
        rest = b"first $(touch x)\nsecond\n"
        for shell in SHELLS:
            self.assertEqual(rest, heard(shell, join_shell_commands(b"cat"), rest), shell)

    def test_shells_that_echo_their_commands_print_no_mark(self) -> None:
        """Else a program would be heard before it begins."""
        for text in (SPOKEN, HEARING[2]):
            self.assertNotIn(MARK.strip(), text.encode())

    def test_command_line_holds_no_secret(self) -> None:
        """Whoever looks at the processes there sees the same words always."""
        self.assertEqual("sh", HEARING[0])
        for text in (SPOKEN, HEARING[2]):
            self.assertNotIn("\\", text)
            self.assertNotIn("!", text)

    def test_invalid_names_and_nul_bytes_are_refused(self) -> None:
        for name in (b"", b"1A", b"A B", b"A=", b"A;b", b"A-B", "é".encode()):
            self.assertRaises(ValueError, build_export_commands, {name: b""})
        self.assertRaises(ValueError, quote_word, b"a\0b")
