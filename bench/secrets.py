"""Whether the time of a refusal tells anything about the secret.

Run: C{PYTHONPATH=. python -m bench.secrets [rounds]}.  Each pair of refusals is measured in turn,
in random order, on one kept connection of a daemon of its own.  "t" is Welch's t over the middle
nine tenths of each sample: beyond about 4.5 two distributions differ for good; the difference of
the medians says by how much, and the spread how many requests it would take to see it.
"""

from __future__ import annotations

import base64
import random
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from urllib.parse import urlsplit

from attrs import frozen

from bench.report import percentile
from tests.integration.harness import DaemonHarness

PASSWORD = "Vm3kq9XwT2bLz7Rn"
ROUNDS = 400
LIMIT = 4.5


@frozen(kw_only=True)
class Pair:
    """Two refusals that must look alike.

    @ivar a: headers of the one that is further from right.
    @ivar b: headers of the one that is nearer.
    """

    title: str
    method: str
    path: str
    a: Mapping[str, str]
    b: Mapping[str, str]


def basic(username: str, password: str) -> dict[str, str]:
    """The header of a login."""
    word = base64.b64encode(f"{username}:{password}".encode()).decode()
    return {"Authorization": f"Basic {word}"}


def pairs(daemon: DaemonHarness) -> list[Pair]:
    """What is compared."""
    secret = (daemon.data / "hook-secret").read_text().strip()
    far = "0" if secret[0] != "0" else "1"
    me = ("GET", "/api/me")
    hook = ("POST", "/api/hook-event")
    return [
        _pair("user name: unknown / known", me, basic("nobody", "x" * 16),
              basic("admin", "x" * 16)),
        _pair("password: first / last letter wrong", me, basic("admin", "0" + PASSWORD[1:]),
              basic("admin", PASSWORD[:-1] + "0")),
        _pair("password: length wrong / right", me, basic("admin", "x"), basic("admin", "x" * 16)),
        _pair("hook secret: first / last digit wrong", hook,
              {"X-Service-Hook-Secret": far * 64}, {"X-Service-Hook-Secret": secret[:-1] + "x"}),
        _pair("token: unknown / unknown", me, {"Authorization": "Bearer tsk_" + "A" * 43},
              {"Authorization": "Bearer tsk_" + "B" * 43}),
    ]  # fmt: skip


def _pair(title: str, call: tuple[str, str], a: Mapping[str, str], b: Mapping[str, str]) -> Pair:
    return Pair(title=title, method=call[0], path=call[1], a=a, b=b)


def measure(daemon: DaemonHarness, pair: Pair, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of every refusal, of C{a} and of C{b}."""
    where = urlsplit(daemon.url)
    connection = HTTPConnection(str(where.hostname), where.port)
    taken: dict[str, list[float]] = {"a": [], "b": []}
    dice = random.Random(1)
    try:
        for number in range(rounds + 20):
            for name in dice.sample(["a", "b"], 2):
                begin = time.perf_counter()
                connection.request(pair.method, pair.path, headers=dict(getattr(pair, name)))
                answer = connection.getresponse()
                answer.read()
                if number >= 20:
                    taken[name].append(time.perf_counter() - begin)
                assert answer.status in (401, 429), answer.status
    finally:
        connection.close()
    return taken["a"], taken["b"]


def trimmed(values: Sequence[float]) -> list[float]:
    """The middle nine tenths: what the scheduler did to the rest is not the service's."""
    ordered = sorted(values)
    edge = len(ordered) // 20
    return ordered[edge : len(ordered) - edge]


def welch(a: Sequence[float], b: Sequence[float]) -> float:
    """Welch's t."""
    error = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return float((statistics.mean(a) - statistics.mean(b)) / error**0.5)


def show(title: str, a: list[float], b: list[float]) -> bool:
    """Print both distributions; whether they are alike."""
    t = welch(trimmed(a), trimmed(b))
    print(f"{title}")
    for name, values in (("a", a), ("b", b)):
        shown = "  ".join(f"p{int(p * 100)} {percentile(values, p) * 1e6:8.0f}"
                          for p in (0.05, 0.25, 0.5, 0.75, 0.95))  # fmt: skip
        print(f"  {name}  {shown}  us   n {len(values)}")
    apart = (statistics.median(a) - statistics.median(b)) * 1e6
    alike = abs(t) < LIMIT
    print(f"  medians apart {apart:.0f} us   t {t:.1f}   {'alike' if alike else 'DIFFERENT'}")
    return alike


def main(rounds: int) -> int:
    """Single-user, then multi-user; 1 when a pair differs."""
    good = True
    for multiuser in ("0", "1"):
        daemon = DaemonHarness(SERVICE_MULTIUSER=multiuser, SERVICE_PASSWORD=PASSWORD)
        try:
            daemon.start()
            print(f"-- multiuser {multiuser}")
            for pair in pairs(daemon):
                good &= show(pair.title, *measure(daemon, pair, rounds))
        finally:
            daemon.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
