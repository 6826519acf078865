"""Which servers go where."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.mcp.model import (
    McpServer,
    McpTransportKind,
    ServerTable,
    collect_shared_servers,
    find_missing_servers,
)

FILES = McpServer(kind=McpTransportKind.STDIO, command="files", args=("-v",), env={"KEY": "s3cr3t"})
WEB = McpServer(
    kind=McpTransportKind.HTTP, url="https://x.example/mcp?key=s3cr3t", headers={"A": "s3cr3t"}
)


def table(off: tuple[str, ...] = (), **servers: McpServer) -> ServerTable:
    return ServerTable(names=tuple(servers), servers=servers, disabled=frozenset(off))


class GatherTests(SynchronousTestCase):
    def test_first_definition_wins_and_others_are_conflicts(self) -> None:
        other = McpServer(kind=McpTransportKind.STDIO, command="other")
        offer = collect_shared_servers([table(a=FILES), table(a=other, b=WEB), table(b=WEB)])
        self.assertEqual({"a": FILES, "b": WEB}, offer.servers)
        self.assertEqual(("a",), offer.conflicts)

    def test_different_secrets_are_no_conflict(self) -> None:
        """Nor does a working folder: what counts is what runs, or where it is."""
        same = McpServer(
            kind=McpTransportKind.STDIO, command="files", args=("-v",), env={}, cwd="/srv"
        )
        self.assertEqual((), collect_shared_servers([table(a=FILES), table(a=same)]).conflicts)

    def test_disabled_server_is_not_offered(self) -> None:
        other = McpServer(kind=McpTransportKind.STDIO, command="other")
        offer = collect_shared_servers([table(("a", "b"), a=FILES, b=WEB), table(a=other)])
        self.assertEqual({"a": other}, offer.servers)
        self.assertEqual(("b",), offer.disabled)
        self.assertEqual(("a",), offer.conflicts)

    def test_disabled_name_without_a_definition_is_ignored(self) -> None:
        self.assertEqual((), collect_shared_servers([table(("ghost",))]).disabled)


class LackTests(SynchronousTestCase):
    def test_servers_known_by_name_are_not_lacking(self) -> None:
        lack = find_missing_servers({"a": FILES, "b": WEB}, ["b"], lambda server: True)
        self.assertEqual({"a": FILES}, lack.servers)
        self.assertEqual((), lack.skipped)

    def test_unsupported_server_is_skipped(self) -> None:
        lack = find_missing_servers(
            {"a": FILES, "b": WEB}, [], lambda server: server.kind is McpTransportKind.STDIO
        )
        self.assertEqual((("a",), ("b",)), (tuple(lack.servers), lack.skipped))

    def test_unsafe_names_and_words_are_skipped(self) -> None:
        half = McpServer(kind=McpTransportKind.STDIO, command="\ud800")
        key = McpServer(kind=McpTransportKind.STDIO, command="x", env={"\udfff": "x"})
        offer = {"": FILES, "\x1b[2J": FILES, "x" * 129: FILES, "__proto__": FILES, "h": half,
                 "k": key}  # fmt: skip
        self.assertEqual(tuple(offer), find_missing_servers(offer, [], lambda server: True).skipped)

    def test_secrets_are_not_shown(self) -> None:
        self.assertNotIn("s3cr3t", repr([FILES, WEB, table(a=FILES)]))
