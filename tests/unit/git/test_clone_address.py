"""Tests for L{tservice.git.clone_address}: what git is given, and what it never sees."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.git.clone_address import CloneSource, check_branch, check_ref, parse_source

GOOD = {
    "https://example.org/x.git": CloneSource(url="https://example.org/x.git"),
    "HTTPS://example.org/x": CloneSource(url="https://example.org/x"),
    "http://example.org:8080/a/b?c=d": CloneSource(url="http://example.org:8080/a/b?c=d"),
    "https://ann:se%20cret@example.org/x": CloneSource(
        url="https://example.org/x", username="ann", password="se cret"
    ),
    "https://ghp_token@example.org/x": CloneSource(
        url="https://example.org/x", username="ghp_token"
    ),
    "https://[::1]:8443/x": CloneSource(url="https://[::1]:8443/x"),
    "ssh://git@example.org:22/x": CloneSource(url="ssh://git@example.org:22/x"),
    "ssh://example.org/~ann/x": CloneSource(url="ssh://example.org/~ann/x"),
    "git://example.org/x": CloneSource(url="git://example.org/x"),
    "git@example.org:ann/x.git": CloneSource(url="git@example.org:ann/x.git"),
    "git@[::1]:x": CloneSource(url="git@[::1]:x"),
}
ODD = (
    "", "x", "./x", "../x", "-x", "--upload-pack=touch /tmp/x", "ext::sh -c id", "ext::sh",
    "ext::ssh://x/y", "fd::17", "transport::https://x/y", "https::https://x/y", "ftp://x/y",
    "ftps://x/y", "rsync://x/y", "git+ssh://x/y", "javascript://x/y", "https://", "https:///x",
    "https://example.org", "https://example.org/", "https://example.org/x#y",
    "https://exa mple.org/x", "https://example.org/a b", "https://example.org/x\n",
    "https://example.org/%0aHost:x", "https://a%0db:c@example.org/x", "https://x:notaport/y",
    "https://x:99999/y", "https://[::1/x", "https://-x/y", "https://x-/y",
    "ssh://-oProxyCommand=touch/x", "ssh://-oProxyCommand=touch@example.org/x",
    "ssh://git@-oProxyCommand=touch/x", "ssh://a:b@example.org/x", "ssh://example.org/-x",
    "git://a@example.org/x", "-oProxyCommand=x@example.org:y", "a@-oProxyCommand=x:y",
    "a@example.org:-x", "a@example.org:", "example.org:x", "a@b@c:x", "a@exa/mple:x",
    "\u2028https://example.org/x", "https://example.org/" + "x" * 2048,
)  # fmt: skip
LOCAL = {
    "/srv/x": "/srv/x",
    "/srv/a b": "/srv/a b",
    "file:///srv/x": "/srv/x",
    "file:///srv/a%20b": "/srv/a b",
}
NO_LOCAL = ("file://host/x", "file:x", "/a\nb", "file:///a%0ab", "file://")


class CloneSourceTests(SynchronousTestCase):
    def test_valid_sources_are_parsed(self) -> None:
        for text, source in GOOD.items():
            self.assertEqual(source, parse_source(text, local=False), text)

    def test_odd_sources_are_refused(self) -> None:
        for text in ODD:
            error = self.assertRaises(ServiceError, parse_source, text, local=True)
            self.assertIs(ErrorCode.INVALID_INPUT, error.code, text)
            self.assertTrue(error.message.startswith("repository: "), text)

    def test_password_for_a_host_without_git_credentials_is_refused(self) -> None:
        """Git's names of settings for one address hold no underscore in the host."""
        text = "https://ann:secret@my_host/x"
        error = self.assertRaises(ServiceError, parse_source, text, local=False)
        self.assertIs(ErrorCode.INVALID_INPUT, error.code)
        self.assertIn("underscore", error.message)
        self.assertNotIn("secret", error.message)
        for text in ("https://my_host/x", "https://ann@my_host/x"):
            self.assertEqual("https://my_host/x", parse_source(text, local=False).url)

    def test_local_paths_are_allowed_on_request(self) -> None:
        for text, path in LOCAL.items():
            self.assertEqual(CloneSource(url=path, local=True), parse_source(text, local=True))
        for text in NO_LOCAL:
            error = self.assertRaises(ServiceError, parse_source, text, local=True)
            self.assertIs(ErrorCode.INVALID_INPUT, error.code, text)
        for text in (*LOCAL, *NO_LOCAL):
            error = self.assertRaises(ServiceError, parse_source, text, local=False)
            self.assertIs(ErrorCode.FORBIDDEN, error.code, text)

    @given(st.text(max_size=60))
    def test_source_that_looks_like_an_option_is_refused(self, text: str) -> None:
        for given_text in (text, f"ssh://{text}", f"git@{text}", f"https://{text}"):
            try:
                source = parse_source(given_text, local=False)
            except ServiceError:
                continue
            self.assertFalse(source.url.startswith("-"))
            self.assertNotIn("::", source.url.split("/")[0].replace("[::", ""))
            self.assertEqual([], [c for c in source.url if c.isspace() or not c.isprintable()])

    def test_representation_of_a_source_hides_credentials(self) -> None:
        source = parse_source("https://ann:secret@example.org/x", local=False)
        self.assertNotIn("secret", repr(source))
        self.assertNotIn("ann", repr(source))


class RefTests(SynchronousTestCase):
    def test_valid_references_are_accepted(self) -> None:
        for text in ("main", "v1.0", "feature/x-1", "refs/tags/v1", "a" * 40, "\u00fc"):
            self.assertEqual(text, check_ref(text, "ref"))

    def test_odd_references_are_refused(self) -> None:
        for text in (
            "", "-x", "--upload-pack=touch", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b",
            "a\\b", "@", "a@{1}", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.", "a\nb", "a\0",
            "a\x7f", "x" * 256,
        ):  # fmt: skip
            error = self.assertRaises(ServiceError, check_ref, text, "from")
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code, text)
            self.assertTrue(error.message.startswith("from: "))

    def test_branch_named_head_is_refused(self) -> None:
        """Git would give the worktree whatever that is, on no branch at all."""
        self.assertEqual("HEAD", check_ref("HEAD", "from"))
        for text in ("HEAD", "-x", "@"):
            error = self.assertRaises(ServiceError, check_branch, text, "branch")
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code, text)
            self.assertTrue(error.message.startswith("branch: "))
        self.assertEqual("feature/HEAD", check_branch("feature/HEAD", "branch"))
