"""C{tservice up}: run the service in the foreground and say where its page is."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import segno
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from zope.interface import implementer

from tservice import __version__
from tservice.console.running import is_running, read_addresses
from tservice.console.terminal import Terminal
from tservice.core.config.model import Config
from tservice.core.net.endpoints import ListenAddress, parse_listen
from tservice.core.net.own_address import find_phone_url
from tservice.tap.options import Options


def run_up(words: Sequence[str], open_page: bool, terminal: Terminal) -> int:
    """Run the service until it is stopped, and return its exit status.

    A service that already uses the data folder is named, which is no error.

    @param words: the settings, as for C{twistd tservice}.
    @param open_page: true to open the page in the user's browser.
    @raise StartError: a setting is invalid.
    """
    options = Options(terminal.environ, terminal.home)
    options.parseOptions(list(words))
    config = options.loaded.config
    addresses = parse_listen(config)
    if is_running(config.data_dir):
        urls = read_addresses(config.data_dir)
        where = ", ".join(urls) or "an address that it has not reported yet"
        terminal.print_line(f"tservice is already running at {where} (data: {config.data_dir})")
        if open_page and urls:
            webbrowser.open(urls[0])
        return 0
    globalLogPublisher.addObserver(StartBanner(config, addresses, open_page, terminal))
    return _run_twistd(words)


@implementer(ILogObserver)
class StartBanner:
    """Log observer that prints the addresses once the service is ready."""

    def __init__(
        self,
        config: Config,
        addresses: Sequence[ListenAddress],
        open_page: bool,
        terminal: Terminal,
    ) -> None:
        self._config, self._addresses = config, addresses
        self._open_page, self._terminal = open_page, terminal

    def __call__(self, event: LogEvent) -> None:
        """Print the addresses if the event says that the service is ready."""
        if event.get("event") != "ready":
            return
        urls = str(event["urls"]).split(", ")
        phone_url = find_phone_url(urls, self._addresses)
        for line in format_banner(urls, self._config.data_dir, phone_url):
            self._terminal.print_line(line)
        if self._open_page and urls[0].startswith("http"):
            # A browser in the terminal would block the service until it is closed.
            Thread(target=webbrowser.open, args=(urls[0],), daemon=True).start()


def format_banner(urls: Sequence[str], data_dir: Path, phone_url: str | None) -> list[str]:
    """Return the lines that tell a person where the service is.

    @param phone_url: URL that other machines can use, shown as a QR code; C{None} for none.
    """
    lines = ["", f"tservice {__version__} is ready. Stop it with Ctrl-C; sessions go on."]
    lines += [f"  page   {url}" for url in urls]
    lines += [f"  data   {data_dir}"]
    if phone_url is None:
        return [*lines, "  phone  not reachable yet: see docs/howto/tailscale.rst, or the page", ""]
    lines += [f"  phone  {phone_url}", ""]
    return [*lines, *draw_qr_code(phone_url), ""]


def draw_qr_code(text: str) -> list[str]:
    """Return a QR code as rows of half blocks, light on dark as most terminals are."""
    matrix = [list(row) for row in segno.make(text, error="l", micro=False).matrix_iter(border=2)]
    if len(matrix) % 2:
        matrix.append([0] * len(matrix[0]))
    glyphs = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
    return [
        "".join(glyphs[bool(above), bool(below)] for above, below in zip(upper, lower, strict=True))
        for upper, lower in zip(matrix[::2], matrix[1::2], strict=True)
    ]


def _run_twistd(words: Sequence[str]) -> int:
    from twisted.scripts import twistd

    sys.argv = ["twistd", "--nodaemon", "--pidfile=", "tservice", *words]
    twistd.run()
    return 0
