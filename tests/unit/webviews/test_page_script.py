"""What a page of a web tab is given before its own scripts run (protocol-webtabs)."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.webviews.page_script import insert_script

ORIGIN, PREFIX = "http://app:5173", "/webview/w"


class InjectedScriptTests(SynchronousTestCase):
    def before(self, page: bytes, wanted: str | None = "iframe") -> bytes | None:
        """What of a page stands before the script; C{None}: it has none."""
        found = insert_script(page, PREFIX, ORIGIN, wanted)
        if found == page:
            return None
        top, _, rest = found.partition(b"<script>")
        self.assertEqual(page, top + rest.partition(b"</script>")[2])
        return top

    def test_script_is_inserted_before_everything_of_the_page(self) -> None:
        for top in (
            b"",
            b"<!doctype html>",
            b"\xef\xbb\xbf\n<!-- a -->\n<!DOCTYPE html>\n<html lang='en'>\n<head profile='x'>",
            b"<head>",
        ):
            self.assertEqual(top, self.before(top + b"<script>own()</script><p>"), top)
        self.assertEqual(b"<!doctype html>", self.before(b"<!doctype html><header>x</header>"))

    def test_script_is_inserted_into_pages_only(self) -> None:
        for wanted in ("empty", "script", "image"):
            self.assertIsNone(self.before(b"<!doctype html><p>", wanted))
        self.assertIsNone(self.before(b"<p>a part of a page</p>", None))
        self.assertEqual(b"<!doctype html>", self.before(b"<!doctype html><p>", None))

    def test_values_given_to_the_script_are_escaped(self) -> None:
        found = insert_script(b"<p>", "/</script><b>", ORIGIN, "document", "a=</script>")
        self.assertEqual(1, found.count(b"</script>"))
        self.assertIn(rb'"/\u003c/script>\u003cb>"', found)
