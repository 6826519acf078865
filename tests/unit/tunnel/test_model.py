"""Codes, addresses and waiting times."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.tunnel import cloudflared_output
from tservice.tunnel.model import (
    ALPHABET,
    LONGEST_REASON,
    clean_line,
    find_public_url,
    generate_code,
    get_retry_delay,
    get_url_host,
    has_code_form,
)


def found_in(text: str) -> list[str]:
    return [url for url in map(find_public_url, text.splitlines()) if url is not None]


class AddressTests(SynchronousTestCase):
    """L{find_public_url}."""

    def test_cloudflared_address_is_found(self) -> None:
        self.assertEqual([cloudflared_output.URL], found_in(cloudflared_output.BANNER))
        self.assertEqual(cloudflared_output.HOST, get_url_host(cloudflared_output.URL))

    def test_failed_cloudflared_has_no_address(self) -> None:
        self.assertEqual([], found_in(cloudflared_output.NO_NETWORK))
        self.assertEqual([], found_in(cloudflared_output.TOO_MANY))

    def test_addresses_of_other_programs_are_found(self) -> None:
        for line, want in (
            ("your url is: https://wet-cat-7.loca.lt", "https://wet-cat-7.loca.lt"),
            (
                "Forwarding  https://ab12.ngrok.app -> http://localhost:8770",
                "https://ab12.ngrok.app",
            ),
            ("a.lhr.life tunneled with tls termination, https://a.lhr.life", "https://a.lhr.life"),
            ("https://box.tail1234.ts.net/", "https://box.tail1234.ts.net"),
            ("https://Box.Example.org:8443/x?y", "https://box.example.org:8443"),
            ("\x1b[1mhttps://a.example.org\x1b[0m", "https://a.example.org"),
            (
                "see https://www.cloudflare.com/, yours: https://b.example.org",
                "https://b.example.org",
            ),
        ):
            self.assertEqual(want, find_public_url(line), line)

    def test_funnel_of_tailscale_names_its_address(self) -> None:
        text = """
        Funnel is not enabled on your tailnet.
        To enable, visit: https://login.tailscale.com/f/funnel?node=abc
        Available on the internet:

        https://box.tail1234.ts.net/
        |-- proxy http://127.0.0.1:8770

        Press Ctrl+C to exit.
        """
        self.assertEqual(["https://box.tail1234.ts.net"], found_in(text))

    def test_other_urls_are_no_tunnel_address(self) -> None:
        for line in (
            "",
            "http://a.example.org",
            "https://localhost:8770",
            "https://a.localhost",
            "https://printer.local",
            "https://127.0.0.1:8770/",
            "https://10.0.0.1",
            "https://[::1]/",
            "https://user:word@a.example.org",
            "https://a.example.org@evil.example.org/",
            "https://a_b.example.org",
            "https://-a.example.org",
            "https://nodots",
            "https://api.trycloudflare.com/tunnel",
        ):
            self.assertIsNone(find_public_url(line), line)

    @given(st.text(max_size=80))
    def test_any_output_gives_a_plain_origin_or_none(self, text: str) -> None:
        found = find_public_url(f"https://{text}")
        if found is not None:
            self.assertRegex(found, r"\Ahttps://[a-z0-9.-]+(:[0-9]{1,5})?\Z")
            self.assertNotIn("@", text[: len(found) - len("https://")])


class NewCodeTests(SynchronousTestCase):
    """L{generate_code}."""

    def test_every_character_is_equally_likely(self) -> None:
        """Each byte once, the eight unfair ones first: 41 codes take all but two of the others."""
        drawn = iter(range(255, -1, -1))
        counted: Counter[str] = Counter()
        for _ in range(41):
            counted.update(generate_code(lambda size: bytes(next(drawn) for _ in range(size))))
        self.assertEqual(set(ALPHABET), set(counted))
        self.assertLessEqual(max(counted.values()) - min(counted.values()), 1)

    def test_biased_bytes_are_discarded(self) -> None:
        stream = iter(bytes([248, 255, 0, 250, 1, 2, 3, 4, 61]))
        self.assertEqual(
            "01234Z", generate_code(lambda size: bytes(next(stream) for _ in range(size)))
        )

    @given(
        st.binary(min_size=64, max_size=64).filter(lambda drawn: sum(b < 248 for b in drawn) > 20)
    )
    def test_code_has_six_characters_for_any_bytes(self, drawn: bytes) -> None:
        stream = iter(drawn)
        code = generate_code(lambda size: bytes(next(stream) for _ in range(size)))
        self.assertTrue(has_code_form(code))

    def test_other_texts_are_no_code(self) -> None:
        for text in ("", "abc12", "abc1234", "abc12-", "äbc123", "abc123\n", "１23456"):
            self.assertFalse(has_code_form(text), text)


class TunnelTextTests(SynchronousTestCase):
    def test_delays_grow_to_a_minute(self) -> None:
        self.assertEqual([1, 2, 4, 8, 16, 32, 60, 60], [get_retry_delay(n) for n in range(1, 9)])
        self.assertEqual(60, get_retry_delay(10**9))

    def test_failure_reason_is_short_and_printable(self) -> None:
        self.assertEqual("a b", clean_line("a\x1bb\r"))
        self.assertEqual(LONGEST_REASON, len(clean_line("x" * 1000)))
