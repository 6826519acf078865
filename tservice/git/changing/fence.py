"""What keeps a clone from running what the repository asks for, while it is the user's own git.

Unlike a reading of a repository (L{tservice.git.safety}), a clone needs what the user configured:
proxies, certificates, credential helpers, the ssh agent.  A new clone has no configuration of its
own, so all that could run is what the user or the machine configured and the repository chose:
filters, hooks of a template, submodules.  Those are off.  Nothing asks on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tservice.git.address import CloneSource
from tservice.git.safety import Configured, absolute_folders

NETWORK = "https:http:ssh:git"
"""Protocols; the user's own C{url.insteadOf} may lead from one to another."""

_KEPT = frozenset(
    {
        "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "SSH_AUTH_SOCK", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "CURL_CA_BUNDLE", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME", "PATH",
        "http_proxy", "https_proxy", "all_proxy", "no_proxy",
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    }
)  # fmt: skip
"""Of the user's environment, what a clone needs; nothing that git itself reads."""

_USERNAME, _PASSWORD = "TSERVICE_CLONE_USERNAME", "TSERVICE_CLONE_PASSWORD"
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n"'
    f' "${_USERNAME}" "${_PASSWORD}"; }}; f'
)
"""Answers with the credentials of the address, which stand in the environment alone: a command
line could be read by every user of the machine."""

_FIXED = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.alternateRefsCommand", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("transfer.bundleURI", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
)
_FILTER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))

CONFIG_NAMES = ("--git-dir=/dev/null", "config", "--list", "--includes", "--name-only", "-z")
"""Asks for the names of what the user and the machine configure, and no repository."""


def user_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a git of the user's has around it, before anything is said about a clone."""
    kept = {
        name: value
        for name, value in environ.items()
        if name in _KEPT or name.startswith(("LC_", "XDG_"))
    }
    path = absolute_folders(environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"))
    return {
        **kept,
        "PATH": path,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # Set and empty: neither core.askPass nor SSH_ASKPASS is looked at.
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_PAGER": "cat",
    }


def clone_environment(
    environ: Mapping[str, str], source: CloneSource, configured: Configured
) -> dict[bytes, bytes]:
    """The whole environment of a clone.

    @param environ: of L{user_environment}.
    @param configured: the names that the user and the machine configure.
    """
    pairs = [*_FIXED, *_no_filters(configured), *_credentials(source), *_held(source)]
    found = {
        **environ,
        "GIT_ALLOW_PROTOCOL": "file" if source.local else NETWORK,
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_CONFIG_COUNT": str(len(pairs)),
    }
    if source.username is not None and source.password is not None:
        found |= {_USERNAME: source.username, _PASSWORD: source.password}
    for number, (key, value) in enumerate(pairs):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return as_bytes(found)


def clone_words(source: CloneSource, target: str, ref: str | None, *, shallow: bool) -> list[str]:
    """Arguments of git."""
    return [
        "clone",
        "--progress",
        "--no-recurse-submodules",
        "--template=",
        "--origin=origin",
        # Git treats a path as a remote too, so that it makes no hard links into what others write.
        "--no-local",
        *(["--depth=1"] if shallow else []),
        *([f"--branch={ref}"] if ref is not None else []),
        "--",
        source.url,
        target,
    ]


def as_bytes(environ: Mapping[str, str]) -> dict[bytes, bytes]:
    """For a process."""
    return {
        name.encode("utf-8", "surrogateescape"): value.encode("utf-8", "surrogateescape")
        for name, value in environ.items()
    }


def _no_filters(configured: Configured) -> Iterable[tuple[str, str]]:
    return [
        (f"filter.{driver}.{key}", value)
        for driver in sorted(configured.subsections("filter"))
        for key, value in _FILTER
    ]


def _held(source: CloneSource) -> Sequence[tuple[str, str]]:
    """Settings that keep git to C{source.addresses}.

    Names are looked up once: curl is told the answer, and of C{git:} the address stands in the URL.
    Before Git 2.37 curl asks again.  ssh goes by the settings of whoever runs it.
    """
    if not source.addresses:
        return ()
    host, port = source.server
    forms = [f"[{each}]" if ":" in each else each for each in source.addresses]
    found = [("http.followRedirects", "false"), ("fetch.uriProtocols", "")]
    if ":" not in host:
        found.append(("http.curloptResolve", f"{host}:{port}:{','.join(forms)}"))
    if source.url.startswith("git:"):
        named = source.url.split("/")[2]
        found.append((f"url.git://{forms[0]}:{port}/.insteadOf", f"git://{named}/"))
    return found


def _credentials(source: CloneSource) -> Sequence[tuple[str, str]]:
    if source.username is None:
        return ()
    scope = f"credential.{source.web}"
    name = (f"{scope}.username", source.username)
    if source.password is None:
        return (name,)
    # A helper without the address in its name also answers the target of a redirect and a proxy.
    # The empty one makes git forget the user's helpers, which must not keep these.
    return (name, (f"{scope}.helper", ""), (f"{scope}.helper", _HELPER))
