"""Push subscriptions that lead inside, as a signed-in user sends them."""

from __future__ import annotations

import json

from tests.security.attack_harness import AttackCase
from tests.security.matrix_rows import KEYS
from tests.unit.push.push_browsers import PushBrowser

INSIDE = (
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0",
    "0.0.0.0",
    "\uff11\uff12\uff17.0.0.1",
    "127\u30020\u30020\u30021",
    "\u2460\u2461\u2466.\u24ea.\u24ea.\u2460",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1:7f00:0:100::]",
    "[2002:7f00:1::]",
    "[2001:0:0:0:0:0:80ff:fffe]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fd00::1]",
    "[fec0::1]",
    "[100::1]",
    "[v1.127.0.0.1]",
    "169.254.169.254",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "1.1.1.1",
    "[2606:4700::1111]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "intranet",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata\u3002google\u3002internal",
    "metad\u00adata.google.internal",
    "a..b.example",
    "-a.example",
    "push.example\uff0f127.0.0.1",
    "push.example\uff20127.0.0.1",
    "push.example\u2100.inside.example",
    "xn--.example",
    "1.example.0x7f",
    "",
)
"""Hosts: none of them is the name of a public host."""

CARRIED = (
    "https://user@push.example/x",
    "https://user:word@push.example/x",
    "https://@push.example/x",
    "https://push.example@127.0.0.1/x",
    "https://127.0.0.1#@push.example/x",
    "https://127.0.0.1?@push.example/x",
    "https://127.0.0.1\\@push.example/x",
    "https://push.example\\@127.0.0.1/x",
    "https:\\\\127.0.0.1/x",
    "https:127.0.0.1/x",
    "https:/127.0.0.1/x",
    "https:///127.0.0.1/x",
    "//127.0.0.1/x",
    "https://push.example:0/x",
    "https://push.example:65536/x",
    "https://push.example:-1/x",
    "https://push.example:+443/x",
    "https://push.example: 443/x",
    "https://push.example:\u0664\u0664\u0663/x",
    "https://push.example:443:22/x",
    "https://[::1]push.example/x",
    "https://[::1].push.example/x",
    "https://push.example[::1]/x",
    "https://push.example\t/x",
    "https://push.example\r\nHost: inside/x",
    "https://push.example\x00.inside/x",
    " https://push.example/x",
    "https://push.example/x y",
    "https://%31%32%37.0.0.1/x",
    "https://push%2eexample/x",
    "http://push.example/x",
    "HTTP://push.example/x",
    "ftp://push.example/x",
    "gopher://127.0.0.1:6379/_x",
    "file:///etc/passwd",
    "unix:///run/docker.sock",
    "data:,x",
    "javascript:alert(1)",
    "wss://push.example/x",
    "https://" + "a" * 64 + ".example/x",
    "https://" + "a." * 130 + "example/x",
    "https://push.example/" + "x" * 4096,
    "",
)
"""URLs that one reader could take for another than the next one does."""


class HostileSubscriptionTests(AttackCase):
    """Each is refused when it comes in, by name of the field, and is told nowhere."""

    def subscribe(self, endpoint: str) -> tuple[int, str]:
        body = {"endpoint": endpoint, "keys": KEYS}
        found = self.ask("POST", "/api/push/subscriptions", body, headers=self.cookie("bob"))
        return found.status, found.body

    def test_subscription_to_an_inside_host_is_refused(self) -> None:
        for host in INSIDE:
            for rest in ("/x", ":8770/x", ":22"):
                status, body = self.subscribe(f"https://{host}{rest}")
                self.assertEqual(400, status, (host, body))
                self.assertTrue(json.loads(body)["error"].startswith("endpoint: "), body)
        self.assertNoEffect()

    def test_subscription_with_an_odd_url_is_refused(self) -> None:
        for url in CARRIED:
            status, body = self.subscribe(url)
            self.assertEqual(400, status, (url, body))
            self.assertTrue(json.loads(body)["error"].startswith("endpoint: "), body)
            self.assertNotIn("127.0.0.1", body)
        self.assertNoEffect()

    def test_valid_subscription_is_accepted(self) -> None:
        """Else all of this would hold for a service that refuses everything."""
        for endpoint in (PushBrowser().endpoint, "https://push.example:8443/a?b=c"):
            self.assertEqual(200, self.subscribe(endpoint)[0])

    def test_webhook_to_a_link_local_host_is_refused(self) -> None:
        """An admin's may lead to this machine and to private networks, and to nothing worse."""
        for host in ("169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]", "0.0.0.0", "[::]"):
            for url in (f"http://{host}/x", f"https://{host}:8443/x", f"http://a:b@{host}/"):
                found = self.ask("PUT", "/api/webhook", {"url": url}, headers=self.cookie())
                self.assertEqual(400, found.status, url)
        for url in ("http://user:word@hooks.example/x", "http://127.0.0.1\\@hooks.example/"):
            found = self.ask("PUT", "/api/webhook", {"url": url}, headers=self.cookie())
            self.assertEqual(400, found.status, url)
        self.assertNoEffect()
