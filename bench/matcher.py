"""Speed of stripping and matching, beside what the bytes cost at least.

Run: C{PYTHONPATH=. python bench/matcher.py}.  "ratio" is the speed of a plain scan of the same
bytes (C{bytes.find} of an absent byte) over the measured speed: what a pass costs in scans.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from tservice.terminal.frames.ansi import EscapeStripper, strip_escapes
from tservice.terminal.stream_matcher import TAIL, SearchNeedle, StreamMatcher

CHUNK = 32 * 1024
SIZE = 32 * 1024 * 1024


def plain() -> bytes:
    """Lines of ASCII text without an escape."""
    line = b"2026-01-01 12:00:00 INFO worker finished item with result ok and went on to the next\n"
    return line * (SIZE // len(line))


def coloured() -> bytes:
    """Compiler-like output: about one escape sequence in 30 bytes."""
    line = "\x1b[1m\x1b[32mok\x1b[0m test_a_name_of_usual_length ... \x1b[2m(12 ms)\x1b[0m ❯\r\n"
    return line.encode() * (SIZE // len(line.encode()))


def redraws() -> bytes:
    """Full-screen redraws: more escapes than text."""
    dice = random.Random(1)
    parts = [
        b"\x1b[%d;%dH\x1b[38;5;%dm%c"
        % (dice.randrange(40), dice.randrange(120), i % 256, 97 + i % 26)
        for i in range(4096)
    ]
    block = b"".join(parts)
    return block * (SIZE // 4 // len(block))


def chunks(data: bytes) -> list[bytes]:
    """C{data} as it comes out of a multiplexer."""
    return [data[i : i + CHUNK] for i in range(0, len(data), CHUNK)]


def best(work: Callable[[], object], times: int = 3) -> float:
    """Seconds of the fastest run."""
    runs = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        runs.append(time.perf_counter() - begin)
    return min(runs)


def feed_all(feed: Callable[[bytes], object], parts: list[bytes]) -> None:
    """Hand every part over."""
    for part in parts:
        feed(part)


def report(name: str, data: bytes) -> None:
    """Print one line a kind of work."""
    parts = chunks(data)
    floor = best(lambda: feed_all(lambda part: part.find(b"\x00"), parts))
    works: dict[str, Callable[[], object]] = {
        "strip": lambda: feed_all(EscapeStripper().feed, parts),
        "match": lambda: feed_all(StreamMatcher(SearchNeedle("never there 4711")).feed, parts),
        "match nocase": lambda: feed_all(
            StreamMatcher(SearchNeedle("Never There 4711", nocase=True)).feed, parts
        ),
    }
    for label, work in works.items():
        took = best(work)
        print(
            f"{name:10} {label:13} {len(data) / took / 1e6:8.0f} MB/s   ratio {took / floor:6.1f}"
        )


def main() -> None:
    """Print the table."""
    for name, data in (("plain", plain()), ("coloured", coloured()), ("redraws", redraws())):
        report(name, data)
    last = coloured()[-TAIL:]
    took = best(lambda: StreamMatcher(SearchNeedle("never there 4711", nocase=True)).feed(last))
    print(f"buffer tail of {TAIL // 1024} KB, nocase: {took * 1000:.1f} ms; strip alone "
          f"{best(lambda: strip_escapes(last)) * 1000:.1f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
