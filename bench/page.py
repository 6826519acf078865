"""The browser UI in Chromium: weight, how soon it is there, a key's way, nine floods, long lists.

Slow networks are emulated by the browser, for what it fetches; a WebSocket's own frames it does not
slow down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import evolve, frozen
from playwright.sync_api import Browser, Page, sync_playwright

from bench import pagelists
from bench.client import new_session, run_line, wait_output
from bench.pagetasks import CATEGORIES, Task, tasks
from bench.report import Row, limited, percentile
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.browser.harness import GRAPHICS, READ, SHOWN, PageTerminal, wait_until_on_page
from tests.integration.harness import DaemonHarness

DESK: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
WEIGHT = 175.0
"""Kilobytes of the first load, compressed, with the terminal drawn by the graphics card."""

TRANSFER = 164.5
"""Kilobytes (164, rounded) of all answers of a first load with one session, without WebGL."""

FLEET = 20
FLEET_TRANSFER = 225.0
"""Kilobytes of all answers of a first load with a fleet, which begins at its page."""

SETTLE = 2000
"""Milliseconds in which a page asks for what it needs after the first that it shows."""

TRIES = 3
KEYS = 60
TYPED_APART = 100
"""Milliseconds from one key's echo to the next key, as somebody types fast.  Nobody presses one
within the frame that was just drawn, and its echo would wait for the display's next."""

KEY_ADDED = 8.0
"""Milliseconds that the page may add to the socket's echo, p50."""

CELLS = 9
FLOOD_SECONDS = 8.0
BLOCKED = 50.0
"""Milliseconds that nine floods may block the page's main thread at a time."""

FRAME = 50.0
"""Milliseconds between two frames, p95, while nine terminals are flooded."""

PALETTE = 200.0
"""Milliseconds until the command palette can be typed in meanwhile."""

FRAME_WATCH = """(() => {
  window.frames_ = [];
  let before = performance.now();
  const frame = (now) => {
    frames_.push(now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()"""

OPEN_PALETTE = """() => new Promise((done) => {
  const begun = performance.now();
  const held = { ctrlKey: true, shiftKey: true, bubbles: true, cancelable: true };
  const key = { key: "K", code: "KeyK", ...held };
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
  const look = () => {
    if (document.querySelector("[data-testid=palette-field]")) done(performance.now() - begun);
    else requestAnimationFrame(look);
  };
  look();
})"""

FLOOD = "while :; do head -c 60000 /dev/urandom | base64 -w 100; done"

WATCH = """(() => {
  const look = () => {
    if (document.querySelector("[data-painted]")) window.terminalAt ??= performance.now();
    else requestAnimationFrame(look);
  };
  look();
})()"""

KEY_WATCH = (
    """(() => {
  const Native = WebSocket;
  const now = { key: 0, sent: 0, heard: 0, column: 0, times: [] };
  window.keyWatch = now;
  window.WebSocket = class extends Native {
    constructor(...all) {
      super(...all);
      this.addEventListener("message", ({ data }) => {
        if (typeof data === "string" || now.heard) return;
        now.heard = performance.now();
        requestAnimationFrame(drawn);
      });
    }
    send(data) {
      if (String(data).includes('"t":"i"')) now.sent ||= performance.now();
      super.send(data);
    }
  };
  const read = """
    + READ
    + """;
  const column = () => read(document.querySelector(".terminal-host:not([hidden])")).cursor.x;
  // What was parsed before a frame is drawn in it; the message comes behind what the frame takes.
  const drawn = () => {
    if (column() === now.column) requestAnimationFrame(drawn);
    else channel.port2.postMessage(0);
  };
  const channel = new MessageChannel();
  channel.port1.onmessage = () =>
    now.times.push(performance.now() - now.key - (now.heard - now.sent));
  addEventListener("keydown", (event) => {
    Object.assign(now, { key: event.timeStamp, sent: 0, heard: 0, column: column() });
  }, { capture: true });
})()"""
)


@frozen(kw_only=True)
class Network:
    """A network as it is emulated, and what is promised on it, in seconds."""

    name: str
    bits: float
    latency: float
    paint: float | None = None
    terminal: float


NETWORKS = (
    Network(name="1.6 Mb/s, 150 ms", bits=1.6e6, latency=150, paint=1.0, terminal=2.5),
    Network(name="400 kb/s, 400 ms", bits=4e5, latency=400, terminal=6.0),
)


@contextmanager
def window(browser: Browser, script: str) -> Iterator[Page]:
    """A page without a past, in which C{script} runs first."""
    context = browser.new_context(**DESK)
    try:
        context.add_init_script(script)
        yield context.new_page()
    finally:
        context.close()


def weigh(browser: Browser, daemon: DaemonHarness) -> float:
    """Kilobytes of all files until a terminal is drawn, as sent, without their headers."""
    with window(browser, GRAPHICS) as page:
        cdp = page.context.new_cdp_session(page)
        files: set[str] = set()
        heads: dict[str, float] = {}
        sizes: dict[str, float] = {}

        def asked(event: dict[str, Any]) -> None:
            if "/api/" not in event["request"]["url"]:
                files.add(event["requestId"])

        def answered(event: dict[str, Any]) -> None:
            heads[event["requestId"]] = event["response"]["encodedDataLength"]

        def done(event: dict[str, Any]) -> None:
            sizes[event["requestId"]] = event["encodedDataLength"]

        cdp.on("Network.requestWillBeSent", asked)
        cdp.on("Network.responseReceived", answered)
        cdp.on("Network.loadingFinished", done)
        cdp.send("Network.enable")
        page.goto(daemon.url)
        PageTerminal(page).ready()
        wait_until_on_page(page, "all files", lambda: not files - set(sizes))
        return sum(sizes[each] - heads[each] for each in files) / 1000


def transfer(browser: Browser, daemon: DaemonHarness, screen: dict[str, Any]) -> float:
    """Kilobytes of every answer of a first load, files and data, with their headers."""
    context = browser.new_context(**screen)
    try:
        page = context.new_page()
        cdp = context.new_cdp_session(page)
        sizes: list[float] = []
        cdp.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        cdp.send("Network.enable")
        page.goto(daemon.url)
        page.wait_for_selector(".shell")
        page.wait_for_timeout(SETTLE)
        return sum(sizes) / 1000
    finally:
        context.close()


def weigh_fleet(browser: Browser, daemon: DaemonHarness) -> float:
    """Kilobytes of a first load with more sessions."""
    sessions = [new_session(daemon, name=f"agent {number}") for number in range(FLEET - 1)]
    try:
        return transfer(browser, daemon, DESK)
    finally:
        for each in sessions:
            daemon.request("DELETE", f"/api/sessions/{each}")


def arrive(browser: Browser, daemon: DaemonHarness, network: Network) -> tuple[float, float]:
    """Seconds until the first paint and until the terminal."""
    with window(browser, WATCH) as page:
        cdp = page.context.new_cdp_session(page)
        cdp.send("Network.enable")
        speed = network.bits / 8
        cdp.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": network.latency,
                "downloadThroughput": speed,
                "uploadThroughput": speed,
            },
        )
        page.goto(daemon.url, wait_until="commit")
        terminal = wait_until_on_page(
            page, "a terminal", lambda: page.evaluate("window.terminalAt")
        )
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return paint / 1000, terminal / 1000


def press(browser: Browser, daemon: DaemonHarness) -> list[float]:
    """Milliseconds that the page added to each key's echo."""
    session = new_session(daemon)
    run_line(daemon, session, "printf 'mark%s' er; cat")
    wait_output(daemon, session, "marker", "buffer")
    with window(browser, KEY_WATCH) as page:
        page.goto(f"{daemon.url}/?session={session}")
        PageTerminal(page).ready().focus()
        for number in range(KEYS):
            page.keyboard.press("a")
            wait_until_on_page(page, "its echo", lambda n=number: times(page) > n)  # type: ignore[misc]
            page.wait_for_timeout(TYPED_APART)
        found: list[float] = page.evaluate("keyWatch.times")
    daemon.request("DELETE", f"/api/sessions/{session}")
    return found


def times(page: Page) -> int:
    """How many keys were painted."""
    return int(page.evaluate("keyWatch.times.length"))


@frozen(kw_only=True)
class Flood:
    """What a person has of the page while nine terminals are flooded.

    @ivar tasks: of its main thread.
    @ivar frames: milliseconds from one frame to the next.
    @ivar palette: milliseconds until the command palette can be typed in, for the first time.
    """

    tasks: list[Task]
    frames: list[float]
    palette: float


def flood(browser: Browser, daemon: DaemonHarness) -> Flood:
    """Flood nine terminals, and measure what the page is like."""
    sessions = [new_session(daemon, name=f"flood {number}") for number in range(CELLS)]
    for each in sessions:
        run_line(daemon, each, FLOOD)
    try:
        with window(browser, FRAME_WATCH) as page:
            page.goto(f"{daemon.url}/?session={sessions[0]}")
            page.wait_for_selector(f"{SHOWN}[data-painted]")
            page.keyboard.press(f"Alt+Shift+{CELLS}")
            cells = page.locator(f".cell {SHOWN}[data-painted][data-renderer]")
            wait_until_on_page(page, "all cells", lambda: cells.count() == CELLS)
            page.evaluate("frames_.length = 0")
            page.wait_for_timeout(FLOOD_SECONDS * 1000)
            frames: list[float] = page.evaluate("frames_.slice(1)")
            palette: float = page.evaluate(OPEN_PALETTE)
            page.keyboard.press("Escape")
            browser.start_tracing(page=page, categories=CATEGORIES)
            page.wait_for_timeout(FLOOD_SECONDS * 1000)
            traced = tasks(json.loads(browser.stop_tracing())["traceEvents"])
            return Flood(tasks=traced, frames=frames, palette=palette)
    finally:
        for each in sessions:
            daemon.request("DELETE", f"/api/sessions/{each}")


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    session = new_session(daemon)
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(ARGUMENTS))
        rows.append(limited("first load", weigh(browser, daemon), WEIGHT, "kB"))
        for name, screen in (("desk", DESK), ("phone", PHONE)):
            found = transfer(browser, daemon, screen)
            rows.append(limited(f"first load with its data, {name}", found, TRANSFER, "kB"))
        fleet = weigh_fleet(browser, daemon)
        rows.append(
            limited(f"first load with its data, {FLEET} sessions", fleet, FLEET_TRANSFER, "kB")
        )
        for network in NETWORKS:
            # What else the machine does only adds to it.
            tries = [arrive(browser, daemon, network) for _ in range(TRIES)]
            paint, terminal = (min(each) for each in zip(*tries, strict=True))
            if network.paint is not None:
                rows.append(limited(f"first paint, {network.name}", paint, network.paint, "s"))
            rows.append(limited(f"terminal, {network.name}", terminal, network.terminal, "s"))
        added = min(percentile(press(browser, daemon), 0.5) for _ in range(TRIES))
        rows.append(limited("key to paint p50, added to the echo", added, KEY_ADDED, "ms"))
        flooded = flood(browser, daemon)
        blocked = flooded.tasks
        longest = max(task.busy for task in blocked)
        frame = percentile(flooded.frames, 0.95)
        rows.append(limited("nine floods, frame p95", frame, FRAME, "ms"))
        rows.append(limited("nine floods, palette opens", flooded.palette, PALETTE, "ms"))
        rows.append(limited("nine floods, longest task", longest, BLOCKED, "ms"))
        clock = percentile([task.wall for task in blocked], 0.99)
        row = limited("nine floods, task by the clock, p99", clock, BLOCKED, "ms")
        rows.append(evolve(row, at_most=None))
        rows.extend(pagelists.rows(browser))
        browser.close()
    daemon.request("DELETE", f"/api/sessions/{session}")
    return rows
