"""Entry point of C{twistd tservice}: the options, and the service that they create.

This is the only module that imports the reactor, and only C{twistd} imports it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from twisted.application.service import IService

from tservice.core.kernel.clock import use_monotonic_time
from tservice.core.logs.redact import SecretRedactor
from tservice.core.logs.twistd_logging import LogService, parse_log_options
from tservice.core.net.endpoints import parse_listen
from tservice.core.process.child import find_child_tools
from tservice.core.process.earlystop import EarlyStop
from tservice.core.process.memory import pause_garbage_collection
from tservice.core.workers.program_lookup import find_unresponsive_folders
from tservice.runtime.launch_context import LaunchContext
from tservice.tap.options import Options
from tservice.tap.root import RootService

__all__ = ["Options", "makeService"]


def makeService(options: Options) -> IService:
    """Return the root service for C{twistd}.

    @raise StartError: an endpoint is invalid, or others could connect without a password.
    """
    from twisted.internet import reactor

    use_monotonic_time(reactor)
    silent = _remove_unresponsive_folders()
    # Half a second of imports, which would delay --help and errors in options.
    with pause_garbage_collection():
        from tservice.tap.assembly import assemble_program

    loaded = options.loaded
    redactor = SecretRedactor()
    if loaded.config.password is not None:
        redactor.register_login(loaded.config.username, loaded.config.password)
    # Children that are started without an explicit environment must not inherit the password.
    os.environ.pop("SERVICE_PASSWORD", None)
    program = LaunchContext(
        reactor=reactor,
        config=loaded.config,
        addresses=parse_listen(loaded.config),
        warnings=(*loaded.warnings, *silent),
        environ=dict(os.environ),
        home=Path.home(),
        redactor=redactor,
        child_tools=find_child_tools(os.environ.get("PATH")),
    )
    threads: Any = reactor
    target = parse_log_options(getattr(options, "parent", None))
    root = RootService(
        program,
        LogService(target, loaded.config, redactor, threads.callFromThread),
        assemble_program,
    )
    EarlyStop(threads.sigTerm).setServiceParent(root)
    return root


def _remove_unresponsive_folders() -> list[str]:
    """Remove folders that do not answer from C{PATH}.

    They would block the start for ever, because imports and program lookups access them.

    @return: messages for the operator about the removed folders.
    """
    path = os.environ.get("PATH", "")
    silent = find_unresponsive_folders(path)
    if silent:
        rest = [folder for folder in path.split(":") if folder not in silent]
        os.environ["PATH"] = ":".join(rest)
    return [f"PATH: {each} does not answer; ignored until the next start" for each in silent]
