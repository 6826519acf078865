"""Environment in which a clone runs nothing that the cloned repository asks for.

A status (L{tservice.git.process.isolation}) ignores the user's git configuration.  A clone needs
it, for proxies, certificates, credential helpers and the ssh agent.

A new clone has no configuration yet.  The repository can only select programs that the user or the
machine configured: filters, hooks of a template, submodules.  These are disabled.  Git never
prompts on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tservice.git.clone_address import CloneSource
from tservice.git.process.isolation import RepositoryConfigKeys, remove_relative_folders

NETWORK = "https:http:ssh:git"
"""Protocols that a clone may use.

The user's C{url.insteadOf} may replace one by another.
"""

_KEPT = frozenset(
    {
        "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "SSH_AUTH_SOCK", "SSL_CERT_FILE",
        "SSL_CERT_DIR", "CURL_CA_BUNDLE", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME", "PATH",
        "http_proxy", "https_proxy", "all_proxy", "no_proxy",
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
    }
)  # fmt: skip
"""Variables of the user's environment that a clone keeps.

Git itself does not interpret them.
"""

_USERNAME, _PASSWORD = "TSERVICE_CLONE_USERNAME", "TSERVICE_CLONE_PASSWORD"
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n"'
    f' "${_USERNAME}" "${_PASSWORD}"; }}; f'
)
"""Credential helper that prints the credentials of the clone's address.

The helper reads them from its environment, because every user of the machine can read a command
line.
"""

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
"""Arguments of git that list the keys set by the user's and the machine's configuration."""


def user_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the user's git gets for any command, before those for a clone are
    added.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name in _KEPT or name.startswith(("LC_", "XDG_"))
    }
    path = remove_relative_folders(environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"))
    return {
        **kept,
        "PATH": path,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        # Set to empty, so that core.askPass and SSH_ASKPASS are ignored.
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_PAGER": "cat",
    }


def clone_environment(
    environ: Mapping[str, str], source: CloneSource, configured: RepositoryConfigKeys
) -> dict[bytes, bytes]:
    """Return the complete environment of a clone.

    @param environ: the result of L{user_environment}.
    @param configured: keys that the configuration of the user and of the machine sets.
    """
    pairs = [
        *_FIXED,
        *_filter_overrides(configured),
        *_credential_settings(source),
        *_make_address_settings(source),
    ]
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
    return encode_environment(found)


def clone_arguments(
    source: CloneSource, target: str, ref: str | None, *, shallow: bool
) -> list[str]:
    """Return the arguments of git that clone C{source} to the folder C{target}.

    @param ref: branch or tag to check out; C{None} means the default branch.
    """
    return [
        "clone",
        "--progress",
        "--no-recurse-submodules",
        "--template=",
        "--origin=origin",
        # Git then makes no hard links to files that other users can write.
        "--no-local",
        *(["--depth=1"] if shallow else []),
        *([f"--branch={ref}"] if ref is not None else []),
        "--",
        source.url,
        target,
    ]


def encode_environment(environ: Mapping[str, str]) -> dict[bytes, bytes]:
    """Encode the names and values of an environment as bytes, as a process needs them."""
    return {
        name.encode("utf-8", "surrogateescape"): value.encode("utf-8", "surrogateescape")
        for name, value in environ.items()
    }


def _filter_overrides(configured: RepositoryConfigKeys) -> Iterable[tuple[str, str]]:
    return [
        (f"filter.{driver}.{key}", value)
        for driver in sorted(configured.find_subsections("filter"))
        for key, value in _FILTER
    ]


def _make_address_settings(source: CloneSource) -> Sequence[tuple[str, str]]:
    """Return configuration that makes git connect only to C{source.addresses}.

    Host names are resolved once.  curl receives the resolved addresses, and a C{git:} URL contains
    one.  Before Git 2.37 curl resolves the name again.  ssh uses the settings of the user who runs
    it.
    """
    if not source.addresses:
        return ()
    host, port = source.host_and_port
    forms = [f"[{each}]" if ":" in each else each for each in source.addresses]
    found = [("http.followRedirects", "false"), ("fetch.uriProtocols", "")]
    if ":" not in host:
        found.append(("http.curloptResolve", f"{host}:{port}:{','.join(forms)}"))
    if source.url.startswith("git:"):
        named = source.url.split("/")[2]
        found.append((f"url.git://{forms[0]}:{port}/.insteadOf", f"git://{named}/"))
    return found


def _credential_settings(source: CloneSource) -> Sequence[tuple[str, str]]:
    if source.username is None:
        return ()
    scope = f"credential.{source.web_server}"
    name = (f"{scope}.username", source.username)
    if source.password is None:
        return (name,)
    # A helper without the address in its name would also answer a proxy or a redirect's target.
    # The empty one removes the user's helpers, which must not store these credentials.
    return (name, (f"{scope}.helper", ""), (f"{scope}.helper", _HELPER))
