"""What the operator chose: one frozen record, made once at start."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

DEFAULT_LISTEN = "tcp:8770:interface=127.0.0.1"


@frozen(kw_only=True)
class Config:
    """The whole configuration; YAML keys are the field names with dashes (wire 26).

    @ivar listen: Twisted endpoint strings.
    @ivar data_dir: mode 0700; holds every file that the service writes.
    @ivar password: single-user Basic password; C{None} means no authentication.
    @ivar output_ring: bytes kept of each session's output (C{SERVICE_OUTPUT_RING}).
    @ivar pane_env: names of further variables that reach the panes (C{SERVICE_PANE_ENV}).
    """

    listen: tuple[str, ...] = (DEFAULT_LISTEN,)
    data_dir: Path = Path("~/.tservice")
    cases_dir: Path = Path("~/service-cases")
    log_format: str = "text"
    username: str = "admin"
    password: str | None = None
    multiuser: bool = False
    allow_unauthenticated_network: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    base_path: str = ""
    gesture: bool = False
    output_ring: int = 8 * 1024 * 1024
    max_sessions: int = 50
    max_sessions_per_user: int = 25
    wait_max_per_session: int = 16
    wait_max_total: int = 128
    wait_max_per_owner: int = 48
    pane_env: tuple[str, ...] = ()
    api_url: str | None = None
