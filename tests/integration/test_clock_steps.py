"""The machine's clock is set while the daemon runs: by hand, or by a network that is back."""

from __future__ import annotations

import http.client
import json
import shutil
import struct
import subprocess
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.integration.harness import PATIENCE, DaemonCase, DaemonHarness

pytestmark = pytest.mark.extended

COMPILER = next(filter(shutil.which, ("cc", "gcc", "clang")), None)
STEP = 3600
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long step(void) {
    long long found = 0;
    int file = open(getenv("CLOCK_STEP"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    if (read(file, &found, sizeof found) != sizeof found) found = 0;
    close(file);
    return found;
}

int clock_gettime(clockid_t which, struct timespec *at) {
    int result = (int)syscall(SYS_clock_gettime, which, at);
    if (which == CLOCK_REALTIME && getenv("CLOCK_STEP")) at->tv_sec += step();
    return result;
}
"""


class SteppedDaemon(DaemonHarness):
    """A daemon whose time of the day a test sets; the machine's stays as it is."""

    preloaded = False

    def wrapped(self, command: list[str]) -> list[str]:
        library = self.folder / "step.so"
        (self.folder / "step.c").write_text(SOURCE)
        build = [str(COMPILER), "-shared", "-fPIC", "-O1", "-o", str(library)]
        subprocess.run([*build, str(self.folder / "step.c")], check=True, timeout=60)
        self.set(0)
        return ["env", f"LD_PRELOAD={library}", f"CLOCK_STEP={self._offset}", *command]

    def set(self, seconds: int) -> None:
        """Have its time of the day go before or after the machine's."""
        self._offset.write_bytes(struct.pack("q", seconds))

    @property
    def _offset(self) -> Path:
        return self.folder / "offset"


class ClockStepTests(DaemonCase):
    skip = None if COMPILER else "there is no C compiler"

    def setUp(self) -> None:
        super().setUp()
        self.service = SteppedDaemon()
        self.addCleanup(self.service.close)
        self.service.start()
        body = {"mode": "shell", "start": True, "workingDir": str(self.service.home)}
        made = self.service.request("POST", "/api/sessions", body).data()["session"]
        self.path = f"/api/sessions/{made['id']}"

    def now(self) -> float:
        """The daemon's time of the day."""
        told: int = self.service.request("GET", "/api/status").data()["serverTime"]
        return told / 1000

    def waited(self, step: int) -> float:
        """Seconds that a wait of three takes while which the clock is set."""
        where = urlsplit(self.service.url)
        begun = time.monotonic()
        waiting = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        with closing(waiting):
            waiting.request("GET", f"{self.path}/wait-output?match=never&timeout=3000")
            self.now()
            self.service.set(step)
            self.assertLess(abs(time.time() + step - self.now()), STEP / 2)
            answer = json.loads(waiting.getresponse().read())
        self.assertTrue(answer["data"]["wait"]["timedOut"], answer)
        return time.monotonic() - begun

    def test_wait_keeps_its_duration_over_a_clock_step(self) -> None:
        """Its connection gives up after a minute, long before the hour of the clock's step."""
        for step in (STEP, -STEP):
            self.service.set(0)
            self.assertGreaterEqual(self.waited(step), 2.9, step)
