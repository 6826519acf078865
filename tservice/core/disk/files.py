"""Reading and writing of small private files; a write replaces the whole file or changes
nothing.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from tservice.core.values.value_limits import exceeds_value_limit

PRIVATE = 0o600
READ_LIMIT = 1024 * 1024
"""Default limit of L{read_text} in bytes, far above the size of any settings file."""
VALUES_LIMIT = 50_000
"""Maximum number of values and names in a JSON file that an untrusted user may have written."""
SMALL = 8192
"""Default limit of L{read_small_text} and L{rewrite_text} in bytes."""


SECRET_NAMES = {
    "gitrob and shhgit": """
        *.pem *.key *.keypair *.pkcs12 *.p12 *.pfx *.jks *.keystore *.keyring *.kdb *.kdbx *.psafe3
        *.kwallet *.keychain *.bek *.tpm *.ovpn *.rdp *.cscfg *_rsa *_dsa *_ed25519 *_ecdsa id_*
        otr.private_key .netrc _netrc netrc .npmrc npmrc .pgpass pgpass .htpasswd htpasswd
        .dockercfg dockercfg .git-credentials git-credentials .s3cfg s3cfg .trc .tugboat .muttrc
        muttrc .gitrobrc secret_token.rb jenkins.plugins.publish_over_ssh.bapsshpublisherplugin.xml
        proftpdpasswd robomongo.json filezilla.xml recentservers.xml ventrilo_srv.ini
        terraform.tfvars sftp-config.json *dbeaver-data-sources.xml localsettings.php wp-config.php
        .*_history .history *purple/accounts.xml servlist.conf servlist_.conf *irssi/config
        *recon-ng/keys.db credentials doctl/config.yaml .config/hub etc/shadow
    """,
    "Talisman and whispers": """
        *.ppk *.pubxml.user .pypirc *remote-sync.json deployment-config.json .docker/config.json
        secrets.json secrets.yml secrets.yaml logins.json .esmtprc .ftpconfig .idea/webservers.xml
        sftp.json credentials.xml credentials.yml credentials.yaml credentials*.json
    """,
    "the documentation of the programs themselves": """
        .credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json
        .gemini/mcp-oauth-tokens*.json .qwen/oauth_creds.json opencode/auth.json
        opencode/mcp-auth.json .pi/agent/auth.json github-copilot/hosts.json
        github-copilot/apps.json gh/hosts.yml glab-cli/config.yml .aws/config .aws/sso/cache/*
        .aws/cli/cache/* .azure/accesstokens.json .azure/msal_token_cache.* .boto
        gcloud/credentials.db gcloud/access_tokens.db application_default_credentials.json
        legacy_credentials/*/adc.json .oci/config .kube/config kubeconfig *.kubeconfig
        containers/auth.json .dockerconfigjson .terraformrc *.tfstate *.tfstate.* *.auto.tfvars
        terraform.tfvars.json .vault-token .fly/config.yml netlify/config.json .netlify/config.json
        configstore/firebase-tools.json ngrok.yml .cloudflared/*.json credentials.toml
        .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .bundle/config
        *composer/auth.json .hex/hex.config .credentials huggingface/token kaggle.json secrets.toml
        pgpass.conf .my.cnf .mylogin.cnf .msmtprc .fetchmailrc .authinfo .smbcredentials .htdigest
        .ssh/?* *.keychain-db .gnupg/secring.gpg private-keys-v1.d/?*
    """,
}
"""Patterns for the names of files with credentials, in lower case, by their source.

The sources are tables of secret scanners (C{signatures.go}, C{config.yaml},
C{filename_detector.go}, C{files.yml}), and names that the scanners miss.  A pattern with folders
matches the end of a path; C{*} matches any characters within one name.
"""
ENVIRONMENT_NAMES = ".env* *.env"
"""Patterns for environment files, which are shown only on explicit request."""
PUBLIC_NAMES = "id_*.pub .ssh/*.pub .ssh/config .ssh/known_hosts* .ssh/authorized_keys*"
"""Patterns for files without credentials, exceptions from the patterns above."""
_DEPTH = 4
"""Number of trailing path components that are compared, as many as the longest pattern has."""


def _compile_patterns(names: str) -> re.Pattern[str]:
    """Compile a list of patterns into one regular expression for the end of a path."""
    each = (
        re.escape(name).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") for name in names.split()
    )
    return re.compile(f"(?:.*/)?(?:{'|'.join(each)})", re.DOTALL)


_SECRETS = _compile_patterns(" ".join(SECRET_NAMES.values()))
_ENVIRONMENTS = _compile_patterns(ENVIRONMENT_NAMES)
_PUBLIC = _compile_patterns(PUBLIC_NAMES)


def is_secret_file(path: str, *, reveal: bool = False) -> bool:
    """Return whether the file name marks a file with secrets, which is never handed out
    (protocol-files).

    Only names are checked, never the content.

    @param path: the path of the file; include parent folders, because some patterns need them.  A
        path that ends with C{/} is a folder.
    @param reveal: true if environment files may be shown.
    """
    end = "/".join(path.lower().split("/")[-_DEPTH:])
    if not reveal and _ENVIRONMENTS.fullmatch(end):
        return True
    return _SECRETS.fullmatch(end) is not None and _PUBLIC.fullmatch(end) is None


class FileError(Exception):
    """Error of a file that cannot be used.  The text names the file and the reason, never the
    content.
    """


class UnsafeFile(FileError):
    """Error of a path that is not a regular file, is a forbidden link, or is accessible to other
    users.
    """


class UnparsableFile(FileError):
    """Error of a file that is not UTF-8, has invalid syntax, or is too large."""


def write_private_file(path: Path, data: str | bytes, *, follow: bool = False) -> None:
    """Replace the content of C{path} by C{data}, with mode 0600.

    A temporary file in the same folder is written, synced and renamed, then the folder is synced.
    After a crash the file has the old or the new content.  The folder must exist.

    @param follow: true to write to the target of a symbolic link at C{path}, for users who keep the
        file elsewhere; a dangling link is still refused.  False to refuse any link.
    @raise UnsafeFile: C{path} is a link that is not allowed, or exists and is not a regular file.
    @raise OSError: the file system refused the write; C{path} is unchanged.
    """
    target = _resolve_target(path, follow)
    content = data.encode() if isinstance(data, str) else data
    with replace_atomically(target) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
        with open(descriptor, "wb") as stream:
            stream.write(content)


def rewrite_text(path: Path, change: Callable[[str], str], limit: int = SMALL) -> None:
    """Change the text of a file that may belong to another user, keeping its mode.

    Links, missing files, files that are larger than C{limit} and files that are no text are
    skipped.  The file is not written if C{change} returns the same text.

    @param change: returns the new text for the current one.
    @param limit: size in bytes above which a file is skipped.
    @raise OSError: the file cannot be written; it is unchanged.
    """
    before = None if path.is_symlink() else read_small_text(path, limit)
    if before is None or (after := change(before)) == before:
        return
    status = path.lstat()
    remove_temporary_files(path)
    with replace_atomically(path) as temporary:
        temporary.write_text(after, "utf-8")
        temporary.chmod(stat.S_IMODE(status.st_mode))
        if os.geteuid() == 0:
            os.chown(temporary, status.st_uid, status.st_gid)


def read_small_text(path: Path, limit: int = SMALL) -> str | None:
    """Return the text of a file that any user may have created.

    @param limit: size in bytes above which a file is not read.
    @return: C{None} if the file is missing, too large, or no text.
    """
    try:
        return read_text(path, limit=limit)
    except (OSError, FileError):
        return None


@contextmanager
def replace_atomically(target: Path) -> Iterator[Path]:
    """Yield an empty 0600 file in C{target}'s folder that replaces C{target} when the block
    succeeds.

    The block writes the file; it is then synced and renamed.  After an error it is removed and
    C{target} is unchanged.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    os.fchmod(descriptor, PRIVATE)  # a strict umask may remove the owner's rights from mkstemp
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        sync_path(temporary)
        temporary.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    sync_path(target.parent)


def remove_temporary_files(target: Path) -> None:
    """Remove temporary files that a killed process left when it wrote C{target}.

    Call this at the start of the process that owns C{target}, while no write is running.
    """
    prefix, suffix = f".{target.name}.", ".tmp"
    for entry in os.scandir(target.parent):
        if entry.name.startswith(prefix) and entry.name.endswith(suffix):
            Path(entry.path).unlink(missing_ok=True)


def restrict_to_owner(path: Path) -> bool:
    """Remove all permissions of group and others from one of the service's files; links are
    skipped.

    @return: true if permissions were removed.
    @raise OSError: the file cannot be opened or changed.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        open_to_others = stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o077)
        if open_to_others:
            os.fchmod(descriptor, PRIVATE)
        return open_to_others
    finally:
        os.close(descriptor)


def sync_path(path: Path) -> None:
    """Flush a file, or the entries of a folder, to stable storage."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_text(path: Path, *, private: bool = False, limit: int = READ_LIMIT) -> str:
    """Return the content of a regular file; symbolic links are followed.

    @param private: true to refuse a file that its group or others may read or write.
    @param limit: maximum size in bytes; a larger file is refused.
    @raise FileNotFoundError: the file does not exist.
    @raise UnsafeFile: the path is not a regular file or is a dangling link, or C{private} is set
        and others can access the file.
    @raise UnparsableFile: the file is too large, or not UTF-8.
    """
    # O_NONBLOCK: a named pipe in the place of the file must not block the service.
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        if path.is_symlink():
            # The link's target is missing, perhaps not mounted: do not start with an empty file.
            raise UnsafeFile(f"{path.name}: is a symbolic link that leads nowhere") from None
        raise
    try:
        _check_opened_file(path, os.fstat(descriptor), private)
    except UnsafeFile:
        os.close(descriptor)
        raise
    with open(descriptor, "rb") as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise UnparsableFile(f"{path.name}: larger than {limit} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise UnparsableFile(f"{path.name}: not UTF-8 (byte {error.start})") from None


def read_json(path: Path, *, private: bool = False, limit: int = READ_LIMIT) -> Any:
    """Return the JSON value in a file, under the rules of L{read_text}.

    @raise UnparsableFile: as for L{read_text}, and for invalid JSON.  The text gives the position,
        never the content.  Without C{private}, the file may also not exceed L{VALUES_LIMIT} values,
        since any user may have written it.
    """
    text = read_text(path, private=private, limit=limit)
    if not private and exceeds_value_limit(text, VALUES_LIMIT):
        raise UnparsableFile(f"{path.name}: holds more than {VALUES_LIMIT} values")
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnparsableFile(f"{path.name}: not valid JSON ({where})") from None
    except (ValueError, RecursionError):
        raise UnparsableFile(f"{path.name}: not valid JSON") from None


def _check_opened_file(path: Path, status: os.stat_result, private: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnsafeFile(f"{path.name}: not a regular file")
    if private and stat.S_IMODE(status.st_mode) & 0o077:
        raise UnsafeFile(f"{path.name}: open to other users, must have mode 0600")


def _resolve_target(path: Path, follow: bool) -> Path:
    """Return the path of the file that a write to C{path} replaces."""
    if path.is_symlink():
        if not follow:
            raise UnsafeFile(f"{path.name}: is a symbolic link")
        try:
            path = path.resolve(strict=True)
        except (OSError, RuntimeError):
            raise UnsafeFile(f"{path.name}: is a symbolic link that leads nowhere") from None
    if path.exists() and not path.is_file():
        raise UnsafeFile(f"{path.name}: not a regular file")
    return path


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not valid JSON")
