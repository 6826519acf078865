"""L{tservice.http.security.hosts.find_tunnel_source}: who may name the client's address."""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.http.security.hosts import RequestSource, find_tunnel_source

TUNNELS = frozenset({"t.example"})
HERE = RequestSource(address="127.0.0.1", scheme=None, host="t.example")
TOLD = {"x-forwarded-for": "198.51.100.9, 203.0.113.7", "x-forwarded-proto": "https"}


class ThroughTunnelTests(SynchronousTestCase):
    def test_last_forwarded_address_and_scheme_are_taken(self) -> None:
        want = RequestSource(address="203.0.113.7", scheme="https", host="t.example")
        for address in ("127.0.0.1", "::1"):
            came = evolve(HERE, address=address)
            self.assertEqual(want, find_tunnel_source(came, TUNNELS, TOLD.get))

    def test_missing_forwarded_headers_change_nothing(self) -> None:
        self.assertEqual(HERE, find_tunnel_source(HERE, TUNNELS, lambda name: None))

    def test_connections_outside_the_tunnel_are_unchanged(self) -> None:
        for came in (
            evolve(HERE, address="10.0.0.1"),
            evolve(HERE, address="unix"),
            evolve(HERE, host="localhost"),
            evolve(HERE, host="x.t.example"),
            evolve(HERE, host=None),
            evolve(HERE, host="[::1"),
        ):
            self.assertIs(came, find_tunnel_source(came, TUNNELS, TOLD.get))
        self.assertIs(HERE, find_tunnel_source(HERE, frozenset(), TOLD.get))

    def test_tunnel_host_matches_in_any_spelling(self) -> None:
        for host in ("T.EXAMPLE", "t.example:443", "t.example."):
            found = find_tunnel_source(evolve(HERE, host=host), TUNNELS, TOLD.get)
            self.assertEqual(("203.0.113.7", host), (found.address, found.host))

    @given(st.dictionaries(st.sampled_from(["x-forwarded-for", "x-forwarded-host"]), st.text()))
    def test_tunnel_host_is_never_replaced(self, headers: dict[str, str]) -> None:
        self.assertEqual("t.example", find_tunnel_source(HERE, TUNNELS, headers.get).host)
