"""What git is told so that a repository can run nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.logs.redact import MARK, SecretRedactor
from tservice.git.model import ERROR_LIMIT, GitRepository
from tservice.git.process.error_text import make_error_text
from tservice.git.process.isolation import (
    OVERRIDES_LIMIT,
    TooManyOverridesError,
    make_arguments,
    make_environment,
    parse_config_keys,
    remove_relative_folders,
)

REPOSITORY = GitRepository(root=b"/r", control=b"/r/.git", common=b"/r/.git")
DRIVERS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="\0\n"), min_size=1, max_size=20
)


class FilterOverrideTests(SynchronousTestCase):
    """Every driver by its name."""

    @settings(deadline=None)
    @given(st.lists(DRIVERS, max_size=5), st.sampled_from(["clean", "process", "smudge"]))
    def test_every_filter_is_disabled(self, drivers: list[str], key: str) -> None:
        output = "".join(f"filter.{driver}.{key}\0" for driver in drivers).encode()
        overrides = parse_config_keys(output).make_overrides()
        for driver in drivers:
            for command in ("clean", "smudge", "process"):
                self.assertEqual("", overrides[f"filter.{driver}.{command}"])
            self.assertEqual("false", overrides[f"filter.{driver}.required"])

    def test_non_utf8_filter_names_are_disabled(self) -> None:
        overrides = parse_config_keys(b"filter.\xe9.clean\0").make_overrides()
        environ = make_environment("/bin", overrides)
        self.assertIn(b"filter.\xe9.clean", environ.values())

    def test_all_overrides_reach_git(self) -> None:
        overrides = parse_config_keys(b"filter.x.clean\0").make_overrides()
        environ = make_environment("/bin", overrides)
        self.assertEqual(b"%d" % len(overrides), environ[b"GIT_CONFIG_COUNT"])
        pairs = {
            environ[b"GIT_CONFIG_KEY_%d" % n]: environ[b"GIT_CONFIG_VALUE_%d" % n]
            for n in range(len(overrides))
        }
        self.assertEqual({k.encode(): v.encode() for k, v in overrides.items()}, pairs)

    def test_too_many_filters_are_an_error(self) -> None:
        names = b"".join(b"filter.%d.clean\0" % n for n in range(OVERRIDES_LIMIT))
        self.assertRaises(TooManyOverridesError, parse_config_keys(names).make_overrides)

    def test_remotes_are_never_fetched_from(self) -> None:
        for names, wanted in (
            (b"remote.pushdefault\0", False),
            (b"core.bare\0", False),
            (b"remote.origin.url\0", True),
            (b"remote.a.b.c.fetch\0", True),
        ):
            self.assertEqual(wanted, parse_config_keys(names).has_remote, names)
        self.assertEqual(
            "false", parse_config_keys(b"remote.a.b.url\0").make_overrides()["remote.a.b.promisor"]
        )


class GitEnvironmentTests(SynchronousTestCase):
    """Nothing of the service's own, nothing of the user's."""

    def test_environment_is_built_from_nothing(self) -> None:
        environ = make_environment("/bin", {})
        self.assertEqual(b"/dev/null", environ[b"HOME"])
        self.assertEqual(b"1", environ[b"GIT_NO_LAZY_FETCH"])
        self.assertEqual(b"", environ[b"GIT_ALLOW_PROTOCOL"])
        self.assertEqual(b"0", environ[b"GIT_OPTIONAL_LOCKS"])

    def test_environment_names_the_folders(self) -> None:
        words = make_arguments(REPOSITORY, ["status", b"\xff"])
        self.assertIn(b"--git-dir=/r/.git", words)
        self.assertIn(b"--work-tree=/r", words)
        self.assertEqual([b"status", b"\xff"], words[-2:])

    def test_relative_folders_are_dropped_from_the_path(self) -> None:
        self.assertEqual("/a:/b", remove_relative_folders("/a::.:bin:/b:"))


class ErrorTextTests(SynchronousTestCase):
    """One clean line."""

    def test_error_text_is_the_first_line(self) -> None:
        text = make_error_text(SecretRedactor(), b"\nfatal: no\x1b[31m\nhint: x\n")
        self.assertEqual("fatal: no?[31m", text)
        self.assertEqual("git failed without an error text", make_error_text(SecretRedactor(), b""))

    def test_credentials_are_redacted(self) -> None:
        for line in (
            b"fatal: https://me:t0ken@host/x",
            b"fatal: me:t0ken@host:x",
            b"fatal: 'https://t0ken@host/x'",
        ):
            text = make_error_text(SecretRedactor(), line)
            self.assertNotIn("t0ken", text)
            self.assertIn(MARK, text)
            self.assertIn("host", text)

    @settings(deadline=None)
    @given(st.binary(max_size=5000))
    def test_error_text_is_bounded_and_printable(self, stderr: bytes) -> None:
        text = make_error_text(SecretRedactor(), stderr)
        self.assertTrue(0 < len(text) <= ERROR_LIMIT)
        self.assertTrue(text.isprintable())
