"""Operator's configuration: one frozen record, created once at start.

Each field is also an entry of the table of settings.  The field C{max_sessions} is the option
C{--max-sessions}, the YAML key C{max-sessions} and the variable C{SERVICE_MAX_SESSIONS}.  The help,
the manual page, the sample file and the README's table are generated from the same entry.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import field, fields, frozen

from tservice.core.config import setting_parsers

DEFAULT_LISTEN = "tcp:8770:interface=127.0.0.1"
PREFIX = "SERVICE_"


@frozen(kw_only=True)
class SettingEntry:
    """Entry of the table of settings.

    @ivar name: the field's name with dashes, used as the YAML key and the long option.
    @ivar flag: true for a Boolean setting, whose option takes no value.
    @ivar many: true for a setting that is a list.
    @ivar on_command_line: false for a secret, because all users can read command lines.
    @ivar in_environment: false if the variable of that name has another meaning.
    """

    name: str
    parse: setting_parsers.Parser
    help: str
    default: object
    flag: bool
    many: bool
    on_command_line: bool
    in_environment: bool

    @property
    def variable(self) -> str:
        """Environment variable of the setting, for example C{SERVICE_MAX_SESSIONS}."""
        return PREFIX + self.name.upper().replace("-", "_")

    @property
    def attribute(self) -> str:
        """Name of the setting's field in L{Config}."""
        return self.name.replace("-", "_")


def _setting_field(
    default: object,
    parser: setting_parsers.Parser,
    text: str,
    *,
    secret: bool = False,
    in_environment: bool = True,
) -> Any:
    """Return an attrs field whose metadata holds its entry in the table of settings."""
    entry = {
        "parse": parser,
        "help": text,
        "on_command_line": not secret,
        "in_environment": in_environment,
    }
    return field(default=default, repr=not secret, metadata=entry)


@frozen(kw_only=True)
class Config:
    """Complete configuration.  The defaults are those of protocol-sessions, protocol-waits and
    protocol-startup.
    """

    listen: tuple[str, ...] = _setting_field(
        (DEFAULT_LISTEN,),
        setting_parsers.make_list_parser(setting_parsers.parse_text),
        "Addresses to listen on: Twisted endpoints (tcp, tcp6, ssl, unix). May be repeated.",
    )
    data_dir: Path = _setting_field(
        Path("~/.tservice"),
        setting_parsers.parse_path,
        "Folder of all files that the service writes; created with mode 0700.",
    )
    cases_dir: Path = _setting_field(
        Path("~/service-cases"),
        setting_parsers.parse_path,
        "Folder of the local cases (workspaces).",
    )
    webview_listen: tuple[str, ...] = _setting_field(
        (),
        setting_parsers.make_list_parser(setting_parsers.parse_text),
        "Addresses that serve web tabs at a separate origin: Twisted endpoints.",
    )
    log_format: str = _setting_field(
        "text",
        setting_parsers.make_choice_parser("text", "json"),
        "Format of the log lines: text or json.",
    )
    log_level: str = _setting_field(
        "info",
        setting_parsers.make_choice_parser("debug", "info", "warn", "error", "critical"),
        "Lowest level that is logged: debug, info, warn, error or critical.",
    )
    audit_export: str | None = _setting_field(
        None,
        setting_parsers.parse_export,
        "Export of audit log entries as they are recorded: syslog, or the path of a file.",
    )
    username: str = _setting_field(
        "admin",
        setting_parsers.parse_user_name,
        "User name of Basic authentication, and of the first admin.",
    )
    password: str | None = _setting_field(
        None,
        setting_parsers.parse_text,
        "Password of Basic authentication. Without one, anyone who can reach the port has access.",
        secret=True,
    )
    password_file: Path | None = _setting_field(
        None,
        setting_parsers.parse_path,
        "File whose first line is the password; no other user may read it.",
    )
    multiuser: bool = _setting_field(
        False, setting_parsers.parse_boolean, "Separate accounts for several users."
    )
    allow_unauthenticated_network: bool = _setting_field(
        False,
        setting_parsers.parse_boolean,
        "Start without a password although other machines or users can connect.",
    )
    allowed_hosts: tuple[str, ...] = _setting_field(
        (),
        setting_parsers.make_list_parser(setting_parsers.parse_host),
        "Further host names of the service, or suffixes such as .example.org.",
    )
    allowed_origins: tuple[str, ...] = _setting_field(
        (),
        setting_parsers.make_list_parser(setting_parsers.parse_local_origin),
        "Origins on localhost whose pages may call the service.",
    )
    trusted_proxies: tuple[str, ...] = _setting_field(
        (),
        setting_parsers.make_list_parser(setting_parsers.parse_network),
        "Addresses or networks of reverse proxies whose X-Forwarded headers are trusted.",
    )
    base_path: str = _setting_field(
        "", setting_parsers.parse_url_prefix, "Path under which a reverse proxy serves the service."
    )
    http2: bool = _setting_field(
        False,
        setting_parsers.parse_boolean,
        "Deprecated and without effect: for HTTP/2, use a reverse proxy.",
    )
    docker_bridge_hooks: bool = _setting_field(
        False,
        setting_parsers.parse_boolean,
        "Let hooks of agents in containers reach the service over their network bridge.",
    )
    gesture: bool = _setting_field(
        False,
        setting_parsers.parse_boolean,
        "Gesture-control overlay; widens the content security policy.",
    )
    voice_stream_base: str = _setting_field(
        "wss://api.anthropic.com/api/ws/speech_to_text/voice_stream",
        setting_parsers.make_url_parser("ws", "wss"),
        "URL for dictations with the primary CLI's account.",
    )
    voice_third_party_base: str = _setting_field(
        "wss://api.deepgram.com/v1/listen",
        setting_parsers.make_url_parser("ws", "wss"),
        "URL for dictations with a third party's key, with Deepgram's protocol.",
    )
    output_ring: int = _setting_field(
        8 * 1024 * 1024,
        setting_parsers.make_integer_parser(64 * 1024, 1024 * 1024 * 1024),
        "Bytes of output kept in memory for each session.",
    )
    max_sessions: int = _setting_field(
        50, setting_parsers.make_integer_parser(1, 10_000), "Maximum number of live sessions."
    )
    max_sessions_per_user: int = _setting_field(
        25,
        setting_parsers.make_integer_parser(1, 10_000),
        "Maximum number of live sessions of one user.",
    )
    wait_max_per_session: int = _setting_field(
        16,
        setting_parsers.make_integer_parser(1, 10_000),
        "Maximum number of parked waits on one session.",
    )
    wait_max_total: int = _setting_field(
        128,
        setting_parsers.make_integer_parser(1, 100_000),
        "Maximum number of parked waits in total.",
    )
    wait_max_per_owner: int = _setting_field(
        48,
        setting_parsers.make_integer_parser(1, 100_000),
        "Maximum number of parked waits of one user.",
    )
    pane_env: tuple[str, ...] = _setting_field(
        (),
        setting_parsers.make_list_parser(setting_parsers.parse_variable),
        "Names of further variables of the service's environment that are passed to the panes.",
    )
    tunnel_command: str = _setting_field(
        "cloudflared",
        setting_parsers.parse_text,
        "Program that opens the tunnel, a name in PATH or a path: tailscale (by tailscale funnel), "
        "cloudflared, or one with cloudflared's arguments: tunnel --url URL.",
    )
    boot_id_file: Path = _setting_field(
        Path("/proc/sys/kernel/random/boot_id"),
        setting_parsers.parse_path,
        "File with an id of this machine's boot; in a container, a file that each start rewrites.",
    )
    # In a pane of another service, SERVICE_API_URL is the address of that service.
    api_url: str | None = _setting_field(
        None,
        setting_parsers.make_url_parser("http", "https"),
        "Address that hooks in the panes post to; by default derived from the first endpoint.",
        in_environment=False,
    )

    has_stored_password: bool = False
    """True if a password was set on the page; no setting, but a file in C{data_dir}."""

    @property
    def has_login(self) -> bool:
        """True if callers have to sign in from the start."""
        return self.multiuser or self.password is not None or self.has_stored_password

    @property
    def password_hash_file(self) -> Path:
        """File with the hash of a password that was set on the page."""
        return self.data_dir / "password-hash"


def list_settings() -> tuple[SettingEntry, ...]:
    """Return the table of settings in the order of L{Config}."""
    return tuple(
        SettingEntry(
            name=entry.name.replace("_", "-"),
            default=entry.default,
            flag=isinstance(entry.default, bool),
            many=isinstance(entry.default, tuple),
            **entry.metadata,
        )
        for entry in fields(Config)
        if entry.metadata
    )
