"""Starting, restarting and stopping the tunnel's process."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.callers import GRANTED
from tests.event_helpers import to_wire
from tests.unit.right_checks import DENIED
from tests.unit.tunnel import cloudflared_output
from tests.unit.tunnel.harness import LOCAL, TunnelHarness
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventAudience
from tservice.tunnel.model import build_tunnel_command
from tservice.tunnel.tunnel_process import LONGEST_LINE

TERM, KILL = int(signal.SIGTERM), int(signal.SIGKILL)


class TunnelServiceCase(SynchronousTestCase):
    deps: dict[str, Any] = {}

    def setUp(self) -> None:
        self.stage = TunnelHarness(Path(self.mktemp()), **self.deps)
        self.tunnel, self.clock = self.stage.tunnel, self.stage.clock
        self.addCleanup(self.stage.close)

    def start(self) -> Deferred[str]:
        started = Deferred.fromCoroutine(self.tunnel.start(GRANTED))
        # The end of the test stops what some of them leave starting.
        self.addCleanup(started.addErrback, lambda _: None)
        return started

    def stop(self) -> Deferred[None]:
        return Deferred.fromCoroutine(self.tunnel.stop())

    def up(self) -> None:
        started = self.start()
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.successResultOf(started))

    def assertAtRest(self) -> None:
        self.clock.advance(0)
        self.assertEqual((False, None), (self.tunnel.is_running, self.tunnel.url))
        self.assertEqual([], self.clock.getDelayedCalls())


class TunnelStartTests(TunnelServiceCase):
    def test_command_and_environment_are_as_configured(self) -> None:
        self.start()
        [call] = self.stage.processes.calls
        self.assertEqual([sys.executable, "-I", "-S"], call["args"][:3])
        program = str(Path(call["env"]["PATH"]).absolute() / "cloudflared")
        self.assertEqual([program, "tunnel", "--url", LOCAL], call["args"][4:])
        self.assertNotIn("SERVICE_PANE_ENV", call["env"])
        self.assertEqual("/h", call["env"]["HOME"])

    def test_tailscale_is_run_as_a_funnel(self) -> None:
        for url, target in (
            ("http://127.0.0.1:8770", "http://127.0.0.1:8770"),
            ("https://127.0.0.1:8770", "https+insecure://127.0.0.1:8770"),
        ):
            command = build_tunnel_command("/usr/bin/tailscale", url)
            self.assertEqual(("/usr/bin/tailscale", "funnel", target), command)

    def test_installed_programs_are_listed(self) -> None:
        found = Deferred.fromCoroutine(self.tunnel.find_programs())
        self.assertEqual(["cloudflared"], self.successResultOf(found))

    def test_running_tunnel_has_its_address(self) -> None:
        started = self.start()
        self.assertEqual((True, None), (self.tunnel.is_running, self.tunnel.url))
        self.assertEqual(frozenset(), self.tunnel.list_public_hosts())
        self.assertNoResult(started)
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.successResultOf(started))
        self.assertEqual(frozenset({cloudflared_output.HOST}), self.tunnel.list_public_hosts())
        self.assertEqual([cloudflared_output.URL], self.stage.changes)
        [event] = self.stage.events
        self.assertEqual(
            ("tunnel:started", EventAudience.ADMINS), (event.name, event.name.audience)
        )
        self.assertEqual({"url": cloudflared_output.URL}, to_wire(event))

    def test_address_is_found_byte_by_byte(self) -> None:
        started = self.start()
        for sign in cloudflared_output.BANNER:
            self.stage.say(sign)
        self.assertEqual(cloudflared_output.URL, self.successResultOf(started))

    def test_output_streams_are_not_mixed(self) -> None:
        started = self.start()
        protocol: Any = self.stage.process.protocol
        protocol.outReceived(b"https://a.exam")
        protocol.errReceived(b"noise\n")
        protocol.outReceived(b"ple.org\n")
        self.assertEqual("https://a.example.org", self.successResultOf(started))

    def test_endless_line_is_not_kept(self) -> None:
        self.start()
        for _ in range(10):
            self.stage.say("x" * LONGEST_LINE)
        protocol: Any = self.stage.process.protocol
        self.assertLessEqual(len(protocol._on_errors.__self__._rest), LONGEST_LINE)
        self.stage.say("\n")
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.tunnel.url)

    def test_starting_twice_starts_one_tunnel(self) -> None:
        first, second = self.start(), self.start()
        self.stage.come_up()
        self.assertEqual(self.successResultOf(first), self.successResultOf(second))
        self.assertEqual(cloudflared_output.URL, self.successResultOf(self.start()))
        self.assertEqual(1, len(self.stage.processes.spawned))

    def test_cancelled_start_does_not_stop_the_tunnel(self) -> None:
        started = self.start()
        started.cancel()
        self.failureResultOf(started)
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.tunnel.url)

    def test_failing_observer_does_not_prevent_the_end(self) -> None:
        def observe(url: str | None) -> None:
            raise ZeroDivisionError

        self.tunnel.add_observer(observe)
        self.up()
        stopped = self.stop()
        self.assertAtRest()
        self.successResultOf(stopped)
        self.assertEqual(2, len(self.flushLoggedErrors(ZeroDivisionError)))

    def failing(self, started: Deferred[str], text: str) -> None:
        error = self.failureResultOf(started).value
        assert isinstance(error, ServiceError)
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        self.assertIn(text, error.message)
        self.assertEqual(["error", "stopped"], self.stage.told())
        self.assertEqual({"error": error.message}, to_wire(self.stage.events[0]))
        self.assertAtRest()

    def test_missing_address_times_out(self) -> None:
        started = self.start()
        self.stage.say(cloudflared_output.THANKS + "\n")
        self.clock.advance(29.9)
        self.assertNoResult(started)
        self.clock.advance(0.1)
        self.clock.advance(0)
        self.failing(started, "no https address within 30 s")
        self.assertEqual([TERM], [number for _, number in self.stage.signals])

    def test_program_that_ends_before_its_address_is_an_error(self) -> None:
        started = self.start()
        self.stage.say(cloudflared_output.NO_NETWORK)
        self.stage.process.finish(1)
        self.failing(started, "no such host")

    def test_error_text_contains_no_secrets(self) -> None:
        started = self.start()
        self.stage.say("GET http://127.0.0.1/q/aB3dE6 failed\n")
        self.stage.process.finish(1)
        self.assertNotIn("aB3dE6", str(self.failureResultOf(started).value))

    def test_missing_program_is_an_error(self) -> None:
        stage = TunnelHarness(Path(self.mktemp()), command="nosuchprogram")
        self.stage, self.tunnel, self.clock = stage, stage.tunnel, stage.clock
        self.failing(self.start(), "there is no program nosuchprogram")

    def test_failed_process_start_is_an_error(self) -> None:
        self.stage.processes.error = PermissionError(1, "Operation not permitted")
        self.failing(self.start(), "Operation not permitted")

    def test_service_without_a_tcp_port_is_an_error(self) -> None:
        stage = TunnelHarness(Path(self.mktemp()), local_url=lambda: None)
        self.stage, self.tunnel, self.clock = stage, stage.tunnel, stage.clock
        self.failing(self.start(), "listens on no TCP port")

    def test_right_lost_during_the_wait_starts_no_tunnel(self) -> None:
        """It waits for the end of the one before."""
        error = self.failureResultOf(Deferred.fromCoroutine(self.tunnel.start(DENIED))).value
        assert isinstance(error, ServiceError)
        self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        self.assertEqual(([], False), (self.stage.processes.spawned, self.tunnel.is_running))

    def test_open_service_starts_no_tunnel(self) -> None:
        stage = TunnelHarness(Path(self.mktemp()), sign_in=SignInRule(is_required=False))
        error = self.failureResultOf(Deferred.fromCoroutine(stage.tunnel.start(GRANTED))).value
        assert isinstance(error, ServiceError)
        self.assertEqual(ErrorCode.FORBIDDEN, error.code)
        stage.tunnel.apply_setting(True)
        self.assertEqual(([], False), (stage.processes.spawned, stage.tunnel.is_running))


class TunnelRetryTests(TunnelServiceCase):
    def test_ended_tunnel_is_restarted(self) -> None:
        self.up()
        self.stage.process.finish(None, KILL)
        self.assertEqual((True, None), (self.tunnel.is_running, self.tunnel.url))
        self.assertEqual(frozenset(), self.tunnel.list_public_hosts())
        self.clock.advance(0.9)
        self.assertEqual(1, len(self.stage.processes.spawned))
        self.clock.advance(0.1)
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.tunnel.url)
        self.assertEqual(["started", "error", "started"], self.stage.told())
        self.assertEqual([cloudflared_output.URL, None, cloudflared_output.URL], self.stage.changes)

    def test_processes_left_by_the_tunnel_are_ended(self) -> None:
        self.up()
        process = self.stage.process
        group = process.pid
        seen: list[tuple[int, int]] = []
        protocol: Any = process.protocol
        protocol._kill_group = lambda *call: seen.append(call)
        process.exit(1)
        self.assertEqual([(group, KILL)], seen)
        self.assertEqual(cloudflared_output.URL, self.tunnel.url)
        self.clock.advance(3)  # its pipes are held open by somebody outside of the group
        self.assertIsNone(self.tunnel.url)

    def test_restart_delays_grow(self) -> None:
        self.up()
        for wait in (1, 2, 4, 8, 16, 32, 60, 60):
            self.stage.process.finish(1)
            before = len(self.stage.processes.spawned)
            self.clock.advance(wait - 0.5)
            self.assertEqual(before, len(self.stage.processes.spawned), wait)
            self.clock.advance(0.5)
            self.assertEqual(before + 1, len(self.stage.processes.spawned), wait)

    def test_stable_tunnel_resets_the_delay(self) -> None:
        self.up()
        for _ in range(4):
            self.stage.process.finish(1)
            self.clock.advance(8)
        self.stage.come_up()
        self.clock.advance(60)
        self.stage.process.finish(1)
        self.clock.advance(1)
        self.assertEqual(6, len(self.stage.processes.spawned))

    def test_manual_start_does_not_wait_for_the_delay(self) -> None:
        self.up()
        for _ in range(5):
            self.stage.process.finish(1)
            self.clock.advance(16)
        self.stage.process.finish(1)
        before = len(self.stage.processes.spawned)
        started = self.start()
        self.assertEqual(before + 1, len(self.stage.processes.spawned))
        self.stage.come_up()
        self.successResultOf(started)

    def test_setting_keeps_retrying(self) -> None:
        self.tunnel.apply_setting(True)
        for number in range(1, 5):
            self.assertEqual(number, len(self.stage.processes.spawned))
            self.stage.process.finish(1)
            self.clock.advance(8)
        self.stage.come_up()
        self.assertEqual(cloudflared_output.URL, self.tunnel.url)
        self.tunnel.apply_setting(True)
        self.assertEqual(5, len(self.stage.processes.spawned))
        self.tunnel.apply_setting(False)
        self.assertAtRest()

    def test_setting_switched_off_and_on_restarts_once(self) -> None:
        """Quicker than its process ends."""
        self.tunnel.apply_setting(True)
        self.stage.come_up()
        self.tunnel.apply_setting(False)
        self.tunnel.apply_setting(True)
        self.assertEqual(1, len(self.stage.processes.spawned))
        self.clock.advance(0)
        self.assertEqual(2, len(self.stage.processes.spawned))

    def test_manual_stop_overrides_the_setting(self) -> None:
        self.tunnel.apply_setting(True)
        self.stage.come_up()
        stopped = self.stop()
        self.assertAtRest()
        self.successResultOf(stopped)
        self.clock.advance(3600)
        self.assertAtRest()


class TunnelStopTests(TunnelServiceCase):
    def test_stopped_tunnel_is_announced(self) -> None:
        self.up()
        stopped = self.stop()
        self.assertNoResult(stopped)
        self.clock.advance(0)
        self.successResultOf(stopped)
        self.assertEqual([TERM], [number for _, number in self.stage.signals])
        self.assertEqual(["started", "stopped"], self.stage.told())
        self.assertAtRest()

    def test_tunnel_that_ignores_term_is_killed(self) -> None:
        self.up()
        self.stage.deaf = True
        stopped, again = self.stop(), self.stop()
        self.assertIsNone(self.tunnel.url)
        self.clock.advance(2.9)
        self.assertNoResult(stopped)
        self.clock.pump([0.1, 0])
        self.successResultOf(stopped)
        self.successResultOf(again)
        self.assertEqual([TERM, KILL], [number for _, number in self.stage.signals])
        self.assertAtRest()

    def test_stop_before_the_address_fails_the_start(self) -> None:
        started, stopped = self.start(), self.stop()
        self.clock.advance(0)
        self.successResultOf(stopped)
        self.assertIn("stopped", str(self.failureResultOf(started).value))
        self.assertAtRest()

    def test_stop_during_the_restart_delay_cancels_it(self) -> None:
        self.up()
        self.stage.process.finish(1)
        self.successResultOf(self.stop())
        self.assertAtRest()

    def test_stop_while_a_failed_tunnel_ends_waits_for_it(self) -> None:
        self.tunnel.apply_setting(True)
        self.stage.deaf = True
        self.clock.advance(30)
        stopped = self.stop()
        self.assertNoResult(stopped)
        self.clock.pump([3, 0])
        self.successResultOf(stopped)
        self.assertAtRest()

    def test_start_during_the_stop_waits_for_it(self) -> None:
        self.up()
        self.stage.deaf = True
        stopped, started = self.stop(), self.start()
        self.assertEqual(1, len(self.stage.processes.spawned))
        self.clock.pump([3, 0])
        self.successResultOf(stopped)
        self.assertEqual(2, len(self.stage.processes.spawned))
        self.stage.come_up()
        self.successResultOf(started)

    def test_last_of_several_requests_counts(self) -> None:
        self.up()
        first, started, last = self.stop(), self.start(), self.stop()
        self.assertAtRest()
        self.successResultOf(first)
        self.successResultOf(last)
        self.assertIn("stopped", str(self.failureResultOf(started).value))

    def test_stopping_without_a_tunnel_does_nothing(self) -> None:
        self.successResultOf(self.stop())
        self.successResultOf(self.tunnel.stop_for_shutdown())
        self.assertEqual([], self.stage.events)
