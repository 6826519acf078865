"""Folders that make a client run something: opencode and pi, the real ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.agents.driven_family import FamilyCase


class BroughtTests(FamilyCase):
    """Clients without a trust dialog of their own, which run at once what a folder brings."""

    def waits(
        self, cli: str, path: str, content: str, then: Callable[[], None] = lambda: None
    ) -> None:
        """C{content} touches the file, but not before somebody answered."""
        self.brought, self.content = path, content
        self.begin(cli)
        self.assertIsNone(self.record()["pid"])
        (item,) = self.call("GET", "/api/approvals")["approvals"]
        self.assertIn(path, item["toolSummary"])
        self.assertIn(str(self.marker), item["toolSummary"])
        self.assertFalse(self.marker.exists())
        self.answer(item, action="option", option=1)
        then()
        # It does run, so the question was worth asking.
        self.until("what it brings", self.marker.exists)

    def answer(self, item: dict[str, Any], **how: Any) -> None:
        self.daemon.answer_item(item, **how).data()

    def start(self, cli: str, env: dict[str, str]) -> None:
        work = self.world.place.work
        self.marker = work.parent / "owned"
        file = work / self.brought
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.content.replace("MARKER", str(self.marker)))
        super().start(cli, env)

    def test_opencode(self) -> None:
        server = {"type": "local", "command": ["touch", "MARKER"], "enabled": True}
        self.waits("opencode", "opencode.json", json.dumps({"mcp": {"mine": server}}))

    def test_pi(self) -> None:
        extension = """
            import { writeFileSync } from "node:fs";
            export default function () { writeFileSync("MARKER", ""); }
        """
        self.waits("pi", ".pi/extensions/mine.ts", extension, self.trust)

    def trust(self) -> None:
        """It asks the same by itself, on a page that is an item, too."""

        def look() -> dict[str, Any] | None:
            items = self.call("GET", "/api/approvals")["approvals"]
            return items[0] if items and items[0]["message"] == "Trust project folder?" else None

        item = self.until("its own page", look)
        self.assertEqual("permission", item["kind"])
        self.assertEqual("Trust", item["options"][0]["label"])
        self.assertFalse(self.marker.exists())
        self.wait("blocked")
        self.answer(item, action="approve")
