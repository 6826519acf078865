"""Service that starts the tunnel and restarts it as needed, independent of HTTP and codes
(protocol-tunnel).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from tservice.core.callers.authentication import SignInRule
from tservice.core.callers.caller import Caller
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.kernel.event_payloads import EmptyPayload, ErrorTextPayload, TunnelPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.kernel.listeners import ListenerList
from tservice.core.kernel.tasks import spawn_logged
from tservice.core.kernel.timers import cancel_call
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner
from tservice.core.values.payload import Payload
from tservice.core.workers.program_lookup import FindProgram
from tservice.tunnel.model import (
    STEADY_SECONDS,
    TUNNEL_PROGRAMS,
    build_tunnel_command,
    get_retry_delay,
    get_url_host,
)
from tservice.tunnel.tunnel_process import TunnelError, TunnelProcess


@frozen(kw_only=True)
class TunnelDependencies:
    """Dependencies of the tunnel service.

    @ivar command: tunnel program, as a name on C{PATH} or a path.
    @ivar find: returns the path of a program.
    @ivar environ: environment of the service.
    @ivar local_url: returns the service's URL on this machine, or C{None} if it listens on no TCP
        port.
    @ivar phone_url: returns a URL of a listener that other machines can connect to, or C{None}.
    @ivar sign_in: the rule that permits a tunnel only with a password, or with the operator's
        consent.
    """

    clock: IReactorTime
    children: ChildRunner
    hub: EventHub
    command: str
    find: FindProgram
    environ: Mapping[str, str]
    home: Path
    local_url: Callable[[], str | None]
    phone_url: Callable[[], str | None]
    sign_in: SignInRule
    redactor: SecretRedactor


Changed = Callable[[str | None], None]
"""Callback that receives the address of an opened tunnel, or C{None} after the tunnel ended."""


class TunnelService:
    """Tunnel that users or the setting C{tunnelEnabled} start and stop.

    A tunnel that was open once, or that the setting enables, is restarted after it ended, with
    growing delays. If a start by a user fails, it is not retried.

    @ivar url: public address while the tunnel is open, otherwise C{None}.
    @ivar is_running: true from the start to the stop of the tunnel, including pauses before a
        restart.
    """

    _log = Logger()

    def __init__(self, deps: TunnelDependencies) -> None:
        self._deps = deps
        self._observers = ListenerList[Changed]("the tunnel")
        self.url: str | None = None
        self.is_running = False
        self._is_kept = False
        self._is_stopping = False
        self._is_settling = False
        self._stop_calls = 0
        self._work: Deferred[None] | None = None
        self._pause: Deferred[None] | None = None
        self._starts: list[Deferred[str]] = []
        self._stops: list[Deferred[None]] = []

    def add_observer(self, changed: Changed) -> None:
        """Call C{changed} after every change of the tunnel's address. It cannot be removed."""
        self._observers.add(changed)

    def list_public_hosts(self) -> frozenset[str]:
        """Return the host names that currently lead to the service through the tunnel."""
        return frozenset() if self.url is None else frozenset({get_url_host(self.url)})

    def find_phone_url(self) -> str | None:
        """Return a URL that other machines can use without the tunnel; C{None} if there is none."""
        return self._deps.phone_url()

    async def find_programs(self) -> list[str]:
        """Return the names of installed programs that can open a tunnel."""
        path = self._deps.environ.get("PATH", os.defpath)
        found = [(name, await self._deps.find(name, path)) for name in TUNNEL_PROGRAMS]
        return [name for name, program in found if program is not None]

    async def start(self, caller: Caller) -> str:
        """Start the tunnel unless it runs, and return its public address once it is known.

        @param caller: authorized again after waiting for a pending stop.
        @raise ServiceError: 403 if the service has no password; 422 if the tunnel could not be
            started.
        """
        if not self._deps.sign_in.allows_tunnel:
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                "a tunnel needs a password; set one on the page or by SERVICE_PASSWORD, or"
                " configure the service to allow an unauthenticated network",
            )
        if not await self._wait_pending_stop():
            raise make_failure_error("tunnel: it was stopped")
        caller.reauthorize()
        if self.url is not None:
            return self.url
        waiter: Deferred[str] = Deferred()
        self._starts.append(waiter)
        if not self.is_running:
            self._spawn_runner()
        self._end_pause()
        return await waiter

    async def stop(self) -> None:
        """Stop the tunnel, and wait until all of its processes have ended."""
        self._stop_calls += 1
        await self._wait_stopped()

    async def _wait_stopped(self) -> None:
        if not self.is_running:
            return
        waiter: Deferred[None] = Deferred()
        self._stops.append(waiter)
        if not self._is_stopping:
            self._is_stopping = True
            if self._work is not None and not self._is_settling:
                self._work.cancel()
        await waiter

    def apply_setting(self, wanted: bool) -> None:
        """Start or stop the tunnel after the setting C{tunnelEnabled} changed.

        @param wanted: value of the setting.
        """
        self._is_kept = wanted
        spawn_logged(self._start_or_stop_by_setting(wanted), self._log, "the setting of the tunnel")

    def stop_for_shutdown(self) -> Deferred[None]:
        """Stop the tunnel regardless of its setting, because the service shuts down."""
        self._is_kept = False
        return Deferred.fromCoroutine(self.stop())

    async def _start_or_stop_by_setting(self, wanted: bool) -> None:
        if not wanted:
            await self.stop()
        elif (
            self._deps.sign_in.allows_tunnel
            and await self._wait_pending_stop()
            and not self.is_running
        ):
            self._spawn_runner()

    async def _wait_pending_stop(self) -> bool:
        """Wait until a pending stop is complete.

        @return: false if another stop was requested while waiting, which then takes precedence.
        """
        before = self._stop_calls
        if self._is_stopping:
            await self._wait_stopped()
        return before == self._stop_calls

    def _spawn_runner(self) -> None:
        self.is_running = True
        self._work = spawn_logged(self._run_repeatedly(), self._log, "the tunnel")

    async def _run_repeatedly(self) -> None:
        """Run the tunnel program, and restart it until the tunnel is stopped.

        A first start that fails is not repeated, unless the setting enables the tunnel.
        """
        failures, lasting = 0, False
        try:
            while True:
                began = self._deps.clock.seconds()
                was_up = await self._run_once()
                lasting = lasting or was_up
                steady = was_up and self._deps.clock.seconds() - began >= STEADY_SECONDS
                failures = 1 if steady else failures + 1
                if self._is_stopping or not (lasting or self._is_kept):
                    return
                await self._pause_before_retry(get_retry_delay(failures))
        finally:
            self._finish_waiting_stops()

    async def _run_once(self) -> bool:
        """Run the tunnel program until it exits. Return true if the tunnel was open."""
        process = TunnelProcess(self._deps.clock)
        up = False
        try:
            self._start_process(process, await self._find_program())
            try:
                self._handle_opened(await process.wait_url())
                up = True
                await process.wait_ended()
            finally:
                await self._wait_process_end(process)
            self._report_failure(process.reason)
        except TunnelError as error:
            self._report_failure(str(error))
        return up

    async def _wait_process_end(self, process: TunnelProcess) -> None:
        """Wait until all processes of the tunnel have ended. A stop does not interrupt this
        wait.
        """
        self._is_settling = True
        self._set_url(None)
        await process.terminate()
        self._is_settling = False

    async def _find_program(self) -> str:
        """Return the path of the tunnel program.

        @raise TunnelError: the program does not exist.
        """
        name, path = self._deps.command, self._deps.environ.get("PATH", os.defpath)
        try:
            found = await self._deps.find(name, path)
        except ServiceError as error:
            raise TunnelError(f"{name} could not be searched: {error.message}") from error
        if found is None:
            raise TunnelError(f"there is no program {name}")
        return found

    def _start_process(self, process: TunnelProcess, program: str) -> None:
        """Start the tunnel program.

        @raise TunnelError: the service has no TCP port, or the process cannot be started.
        """
        deps = self._deps
        local = deps.local_url()
        if local is None:
            raise TunnelError("the service listens on no TCP port, which the tunnel needs")
        parts = urlsplit(local)
        url = f"{parts.scheme}://{parts.netloc}"
        argv = build_tunnel_command(os.path.abspath(program), url)
        # Pass on the program's own settings, but none of the service's.
        env = {k: v for k, v in deps.environ.items() if not k.startswith("SERVICE_")}
        try:
            process.start(deps.children, argv, env, deps.home)
        except OSError as error:
            raise TunnelError(f"it could not be started: {error.strerror}") from error

    def _handle_opened(self, url: str) -> None:
        self._log.info("the tunnel is up at {url}", url=url)
        self._set_url(url)
        self._publish(EventName.TUNNEL_STARTED, TunnelPayload(url=url))
        waiting, self._starts = self._starts, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(url)

    def _report_failure(self, why: str) -> None:
        text = f"tunnel: {self._deps.redactor.redact_text(why)}"
        self._log.warn("{text}", text=text)
        self._publish(EventName.TUNNEL_ERROR, ErrorTextPayload(error=text))
        self._fail_starts(text)

    def _fail_starts(self, text: str) -> None:
        waiting, self._starts = self._starts, []
        for waiter in waiting:
            if not waiter.called:
                waiter.errback(make_failure_error(text))

    def _set_url(self, url: str | None) -> None:
        if url == self.url:
            return
        self.url = url
        # The process must be terminated even if an observer fails.
        self._observers.notify_all(lambda changed: changed(url))

    def _finish_waiting_stops(self) -> None:
        self.is_running = self._is_stopping = False
        self._work = None
        self._publish(EventName.TUNNEL_STOPPED, EmptyPayload())
        self._fail_starts("tunnel: it was stopped")
        waiting, self._stops = self._stops, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(None)

    async def _pause_before_retry(self, seconds: float) -> None:
        """Wait this many seconds before the next start. L{_end_pause} ends the wait early."""
        self._pause = Deferred()
        timer = self._deps.clock.callLater(seconds, self._end_pause)
        try:
            await self._pause
        finally:
            self._pause = None
            cancel_call(timer)

    def _end_pause(self) -> None:
        pause, self._pause = self._pause, None
        if pause is not None:
            pause.callback(None)

    def _publish(self, name: EventName, payload: Payload) -> None:
        self._deps.hub.publish(Event(name=name, payload=payload))
