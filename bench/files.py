"""Files of a workspace: memory while they go down and up, first bytes, trees, and a neighbour."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench.client import echo_times, new_session, run_line, wait_output
from bench.gitecho import beside
from bench.report import Row, percentile
from tests.integration.files import BOUNDARY, FORM, SessionFiles, files_of, read_answer
from tests.integration.harness import DaemonHarness

DOWN, UP = 2 * 1024**3, 100 * 1024**2
MEMORY = 4.0
"""Megabytes by which the daemon may grow meanwhile."""

FIRST_BYTE = 20.0
TREE_FILES, TREE_P95 = 100_000, 300.0
ECHO_P99 = 10.0
"""Milliseconds."""

ASKED, TREES, KEYS, ROUNDS = 50, 40, 100, 3
_PIECE = 1024 * 1024


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench."""
    folder = Path(tempfile.mkdtemp(prefix="filesbench-")).resolve()
    try:
        with (folder / "huge").open("wb") as stream:
            stream.truncate(DOWN)
        files = files_of(daemon, folder)
        for _ in range(3):  # what is loaded and allocated once
            _upload(files, 8 * _PIECE)
            _download(files, 64 * _PIECE)
        return [
            *_carried(daemon, files),
            *_looked_at(daemon, folder, files),
            *_neighbour(daemon, folder, files),
        ]
    finally:
        shutil.rmtree(folder)


def _carried(daemon: DaemonHarness, files: SessionFiles) -> list[Row]:
    before = _processor(daemon)
    with _growth(daemon) as down:
        seconds_down = _timed(lambda: _download(files, DOWN))
    between = _processor(daemon)
    with _growth(daemon) as up:
        seconds_up = _timed(lambda: _upload(files, UP))
    after = _processor(daemon)
    return [
        _limit("memory while 2 GB go down", down[0], MEMORY, "MB"),
        _limit("memory while 100 MB go up", up[0], MEMORY, "MB"),
        _figure("2 GB down", DOWN / 1e6 / seconds_down, "MB/s"),
        _figure("100 MB up", UP / 1e6 / seconds_up, "MB/s"),
        _figure("processor for 2 GB down", between - before, "s"),
        _figure("processor for 100 MB up", after - between, "s"),
    ]


def _looked_at(daemon: DaemonHarness, folder: Path, files: SessionFiles) -> list[Row]:
    firsts = [_timed(lambda: _download(files, 1)) * 1000 for _ in range(ASKED)]
    rows = [_limit("first byte of a 2 GB file, p95", percentile(firsts, 0.95), FIRST_BYTE, "ms")]
    for name, width in (("1000 folders", 100), ("one folder", TREE_FILES)):
        top = folder / f"tree{width}"
        _plant(top, width)
        seen = files_of(daemon, top)
        times = [_timed(partial(_tree, seen)) * 1000 for _ in range(TREES)]
        what = f"tree of 100,000 files in {name}, p95"
        rows.append(_limit(what, percentile(times, 0.95), TREE_P95, "ms"))
    return rows


def _neighbour(daemon: DaemonHarness, folder: Path, files: SessionFiles) -> list[Row]:
    """The peer is the same echo while as much is written beside the service."""
    typed = new_session(daemon)
    run_line(daemon, typed, "printf 'mark%s' er; cat")
    wait_output(daemon, typed, "marker", "buffer")
    works = {
        "peer": partial(_write, folder / "peer"),
        "an upload": partial(_upload, files, UP),
        "a download": partial(_download, files, DOWN),
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(ROUNDS):
        for name, work in works.items():
            with beside(work):
                times[name] += echo_times(daemon, typed, KEYS, cid=f"{name.split()[-1]}-{number}")
    p99 = {name: percentile(found, 0.99) * 1000 for name, found in times.items()}
    return [row for name in list(works)[1:] for row in _compared(name, p99[name], p99["peer"])]


def _compared(name: str, ours: float, peer: float) -> list[Row]:
    what = f"echo p99 of a neighbour during {name}"
    return [
        Row(name=what, ours=ours, peer=peer, unit="ms", against="as much written beside"),
        _limit(f"{what}, added", max(ours - peer, 0.0), ECHO_P99, "ms"),
    ]


def _write(path: Path) -> None:
    piece = os.urandom(_PIECE)
    with path.open("wb") as stream:
        for _ in range(UP // _PIECE):
            stream.write(piece)


def _download(files: SessionFiles, size: int) -> None:
    """Read C{size} bytes of the huge file, as cheaply as they can be read."""
    where = urlsplit(files.daemon.url)
    with socket.create_connection((where.hostname, where.port)) as sock:
        words = f"GET {files.path('file-raw', 'huge')} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n"
        sock.sendall(words.encode())
        buffer, got = bytearray(_PIECE), 0
        begun = b""
        while b"\r\n\r\n" not in begun:
            begun += sock.recv(4096)
        got = len(begun) - begun.index(b"\r\n\r\n") - 4
        while got < size:
            count = sock.recv_into(buffer)
            if not count:
                raise RuntimeError("the download broke off")
            got += count


def _upload(files: SessionFiles, size: int) -> None:
    head = 'Content-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
    before = f"--{BOUNDARY}\r\n{head}".encode()
    after = f"\r\n--{BOUNDARY}--\r\n".encode()
    piece = os.urandom(_PIECE)
    with files.connection() as connection:
        connection.putrequest("POST", files.path("uploads"))
        connection.putheader("Content-Type", FORM)
        connection.putheader("Content-Length", str(len(before) + size + len(after)))
        connection.endheaders()
        connection.send(before)
        for _ in range(size // _PIECE):
            connection.send(piece)
        connection.send(after)
        [kept] = read_answer(connection).data()["files"]
    os.unlink(kept["path"])


def _tree(files: SessionFiles) -> None:
    found = files.get("files", ".").data()
    if found["totalFiles"] + found["totalDirectories"] != 5000:
        raise RuntimeError(f"not measured: {found['totalFiles']} files")


def _plant(top: Path, width: int) -> None:
    """L{TREE_FILES} files, so many in a folder."""
    for number in range(TREE_FILES // width):
        folder = top / f"d{number:04}" if width < TREE_FILES else top
        folder.mkdir(parents=True)
        for each in range(width):
            (folder / f"f{each:06}.txt").touch()


@contextmanager
def _growth(daemon: DaemonHarness) -> Iterator[list[float]]:
    """By how many megabytes the daemon was larger, at its peak, than before the block."""
    before = _memory(daemon, "VmRSS")
    Path(f"/proc/{daemon.pid}/clear_refs").write_text("5")  # the peak begins anew
    found = [0.0]
    yield found
    found[0] = max(0.0, _memory(daemon, "VmHWM") - before)


def _memory(daemon: DaemonHarness, name: str) -> float:
    lines = Path(f"/proc/{daemon.pid}/status").read_text().splitlines()
    [line] = [line for line in lines if line.startswith(f"{name}:")]
    return int(line.split()[1]) / 1024


def _processor(daemon: DaemonHarness) -> float:
    """Seconds that the daemon has worked."""
    return sum(psutil.Process(daemon.pid).cpu_times()[:2])


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _limit(name: str, ours: float, limit: float, unit: str) -> Row:
    return Row(name=name, ours=ours, peer=limit, unit=unit, against="limit", at_most=1.0)


def _figure(name: str, ours: float, unit: str) -> Row:
    return Row(name=name, ours=ours, peer=ours, unit=unit, against="itself")
