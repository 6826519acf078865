"""Keeps the tunnel up while it is wanted (protocol-tunnel).  Knows nothing of HTTP or of codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorProcess, IReactorTime
from twisted.logger import Logger

from tservice.core.doors.programs import Find
from tservice.core.errors import ErrorCode, ServiceError, failed
from tservice.core.events import Event, EventHub, EventName
from tservice.core.listeners import Listeners
from tservice.core.logs.redact import Redactor
from tservice.core.payload import Payload
from tservice.core.payloads import Nothing, TroubleTold, TunnelTold
from tservice.core.tasks import spawn
from tservice.core.timers import cancel
from tservice.tunnel.model import STEADY_SECONDS, host_of, wait_after
from tservice.tunnel.process import KillGroup, TunnelFailed, TunnelProcess


@frozen(kw_only=True)
class TunnelDependencies:
    """What a tunnel needs.

    @ivar command: its program: a name on PATH, or a path.
    @ivar find: finds the program.
    @ivar environ: the service's own environment.
    @ivar local_url: where the service listens on this machine; C{None}: on no TCP port.
    @ivar allowed: whether there is a password, or the operator wants none.
    """

    clock: IReactorTime
    processes: IReactorProcess
    hub: EventHub
    command: str
    find: Find
    environ: Mapping[str, str]
    home: Path
    local_url: Callable[[], str | None]
    allowed: bool
    redactor: Redactor
    kill_group: KillGroup = field(default=os.killpg)


Changed = Callable[[str | None], None]
"""Told the address of a tunnel that is up, and C{None} when it is up no longer."""


class Tunnel:
    """One tunnel, started and stopped by people or by the setting C{tunnelEnabled}.

    What has been up once, or is started by the setting, is started again whenever it ends, after
    a wait that grows.  A start by a person that comes to nothing is over.

    @ivar url: its public address while it is up.
    @ivar running: whether it is wanted: being started, up, or waiting for its next start.
    """

    _log = Logger()

    def __init__(self, deps: TunnelDependencies) -> None:
        self._deps = deps
        self._observers = Listeners[Changed]("the tunnel")
        self.url: str | None = None
        self.running = False
        self._lasting = False
        self._stopping = False
        self._settling = False
        self._stop_calls = 0
        self._work: Deferred[None] | None = None
        self._pause: Deferred[None] | None = None
        self._starts: list[Deferred[str]] = []
        self._stops: list[Deferred[None]] = []

    def observe(self, changed: Changed) -> None:
        """Tell C{changed} of every change, for good."""
        self._observers.add(changed)

    def hosts(self) -> frozenset[str]:
        """The names under which the service is reached through it now."""
        return frozenset() if self.url is None else frozenset({host_of(self.url)})

    async def start(self, again: Callable[[], object] = lambda: None) -> str:
        """Start it unless it runs, and wait for its address.

        @param again: judges the caller once more, behind a stop that is under way.
        @raise ServiceError: 403: anybody could come through; 422: it could not be started.
        """
        if not self._deps.allowed:
            raise ServiceError(
                ErrorCode.FORBIDDEN,
                "a tunnel needs a password, or the service must be told to allow an"
                " unauthenticated network",
            )
        if not await self._stop_is_over():
            raise failed("tunnel: it was stopped")
        again()
        if self.url is not None:
            return self.url
        waiter: Deferred[str] = Deferred()
        self._starts.append(waiter)
        if not self.running:
            self._begin()
        self._resume()
        return await waiter

    async def stop(self) -> None:
        """Stop it; over when no process of it is left."""
        self._stop_calls += 1
        await self._halt()

    async def _halt(self) -> None:
        if not self.running:
            return
        waiter: Deferred[None] = Deferred()
        self._stops.append(waiter)
        if not self._stopping:
            self._stopping = True
            if self._work is not None and not self._settling:
                self._work.cancel()
        await waiter

    def keep(self, wanted: bool) -> None:
        """Do as the setting says, from now on."""
        self._lasting = wanted
        spawn(self._follow(wanted), self._log, "the setting of the tunnel")

    def close(self) -> Deferred[None]:
        """L{stop}, whatever the setting says: the service ends."""
        self._lasting = False
        return Deferred.fromCoroutine(self.stop())

    async def _follow(self, wanted: bool) -> None:
        if not wanted:
            await self.stop()
        elif self._deps.allowed and await self._stop_is_over() and not self.running:
            self._begin()

    async def _stop_is_over(self) -> bool:
        """Wait for a stop that is under way; false when another came meanwhile: the last counts."""
        before = self._stop_calls
        if self._stopping:
            await self._halt()
        return before == self._stop_calls

    def _begin(self) -> None:
        self.running = True
        self._work = spawn(self._run(), self._log, "the tunnel")

    async def _run(self) -> None:
        """Until it is stopped, or a first start that need not last has failed."""
        failures, lasting = 0, False
        try:
            while True:
                began = self._deps.clock.seconds()
                was_up = await self._run_once()
                lasting = lasting or was_up
                steady = was_up and self._deps.clock.seconds() - began >= STEADY_SECONDS
                failures = 1 if steady else failures + 1
                if self._stopping or not (lasting or self._lasting):
                    return
                await self._wait(wait_after(failures))
        finally:
            self._over()

    async def _run_once(self) -> bool:
        """One process from its start to its end; whether it was up."""
        process = TunnelProcess(self._deps.clock, self._deps.kill_group)
        up = False
        try:
            self._launch(process, await self._program())
            try:
                self._came_up(await process.url())
                up = True
                await process.ended()
            finally:
                await self._settle(process)
            self._failed(process.reason)
        except TunnelFailed as error:
            self._failed(str(error))
        return up

    async def _settle(self, process: TunnelProcess) -> None:
        """Wait until nothing of a process is left; a stop waits as well, and cuts nothing short."""
        self._settling = True
        self._change(None)
        if process.started:
            await process.end()
        self._settling = False

    async def _program(self) -> str:
        """@raise TunnelFailed: there is no such program."""
        name, path = self._deps.command, self._deps.environ.get("PATH", os.defpath)
        try:
            found = await self._deps.find(name, path)
        except ServiceError as error:
            raise TunnelFailed(f"{name} could not be looked for: {error.message}") from error
        if found is None:
            raise TunnelFailed(f"there is no program {name}")
        return found

    def _launch(self, process: TunnelProcess, program: str) -> None:
        """@raise TunnelFailed: there is nothing for it to lead to, or it cannot be started."""
        deps = self._deps
        local = deps.local_url()
        if local is None:
            raise TunnelFailed("it needs a TCP port of the service, and there is none")
        parts = urlsplit(local)
        argv = (os.path.abspath(program), "tunnel", "--url", f"{parts.scheme}://{parts.netloc}")
        # It needs its own settings from the environment, and none of the service's.
        env = {k: v for k, v in deps.environ.items() if not k.startswith("SERVICE_")}
        try:
            process.start(deps.processes, argv, env, deps.home)
        except OSError as error:
            raise TunnelFailed(f"it could not be started: {error.strerror}") from error

    def _came_up(self, url: str) -> None:
        self._log.info("the tunnel is up at {url}", url=url)
        self._change(url)
        self._tell(EventName.TUNNEL_STARTED, TunnelTold(url=url))
        waiting, self._starts = self._starts, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(url)

    def _failed(self, why: str) -> None:
        text = f"tunnel: {self._deps.redactor.clean(why)}"
        self._log.warn("{text}", text=text)
        self._tell(EventName.TUNNEL_ERROR, TroubleTold(error=text))
        self._refuse(text)

    def _refuse(self, text: str) -> None:
        waiting, self._starts = self._starts, []
        for waiter in waiting:
            if not waiter.called:
                waiter.errback(failed(text))

    def _change(self, url: str | None) -> None:
        if url == self.url:
            return
        self.url = url
        # The process must be ended even if telling of it fails.
        self._observers.tell(lambda changed: changed(url))

    def _over(self) -> None:
        self.running = self._stopping = False
        self._work = None
        self._tell(EventName.TUNNEL_STOPPED, Nothing())
        self._refuse("tunnel: it was stopped")
        waiting, self._stops = self._stops, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(None)

    async def _wait(self, seconds: float) -> None:
        """Between two starts; L{_resume} cuts it short."""
        self._pause = Deferred()
        timer = self._deps.clock.callLater(seconds, self._resume)
        try:
            await self._pause
        finally:
            self._pause = None
            cancel(timer)

    def _resume(self) -> None:
        pause, self._pause = self._pause, None
        if pause is not None:
            pause.callback(None)

    def _tell(self, name: EventName, payload: Payload) -> None:
        self._deps.hub.publish(Event(name=name, payload=payload))
