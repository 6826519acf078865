"""The disk fails at each step of each file that the service writes: the old or the new is there."""

from __future__ import annotations

import ast
import contextlib
import errno
import io
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import field, frozen
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

import tservice
from tests.unit.files import workspace_writers
from tests.unit.filling_disk import FullDisk
from tservice.access.first_password import store_password_hash
from tservice.access.hook_secret import load_hook_secret
from tservice.agents.hooks.first_run import NotSeededError, seed_first_run
from tservice.agents.hooks.hook_config_writer import FileRefusedError, HookConfigWriter
from tservice.client.errors import Unusable
from tservice.client.tls import make_certificate
from tservice.clis.registry_merge import write_registry_file
from tservice.console.backup import create_backup as archive_data
from tservice.console.terminal import CommandError, Terminal, run_program, stream_program
from tservice.console.unit import write_unit
from tservice.core.callers.authentication import SignInRule
from tservice.core.disk.files import FileError
from tservice.core.kernel.errors import ServiceError, StartError
from tservice.core.kernel.events import EventHub
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.process.folder_lock import FolderLock, write_addresses
from tservice.core.users.shared_folder import SharedFolder
from tservice.hosts.host_file import open_host_file
from tservice.hosts.host_keys import HostKey, KnownHostsFile
from tservice.hosts.model import RemoteHost
from tservice.mcp.locked_files import hold_lock, read_config, replace_config
from tservice.models.endpoint_file import open_endpoint_file
from tservice.models.injection_folders import replace_injection_file
from tservice.models.model import ModelEndpoint
from tservice.notify.config_file import WebhookConfigFile
from tservice.notify.model import WebhookConfig
from tservice.push.keys import load_push_key
from tservice.restore.scrollback import ScrollbackFolder
from tservice.settings.service import SettingsService
from tservice.store.backups import create_backup
from tservice.store.database import Database
from tservice.store.errors import StoreError
from tservice.tokens.agent_tokens import AgentTokens

SOURCE = Path(tservice.__file__).parent
WRITERS = (
    "write_private_file",
    "replace_atomically",
    "write_text",
    "write_bytes",
    "ftruncate",
    "NamedTemporaryFile",
)
ELSEWHERE = {
    "core/disk/files.py": "what all others write by",
    "console/screen_recorder.py:record_screens": "made anew by the same command",
    "cases/creation.py": "takes back all that it made: the tests of cases fail each step",
    "hosts/build.py:build_hosts": "made anew at each start, which ends where it cannot be",
    "mux/tmux/sockets.py:_write_new": "shown once above a pane's first line, and gone with it",
    "containers/transport.py:_write_new": "as the preface on this machine",
    "containers/folders.py:_copy_file": "copied again at the next start where it is not the same",
    "containers/folders.py:_write_new": "a container that could not be made is made anew",
    "suggestions/suggester.py:_run_cli_with_prompt": "a prompt that one child reads",
    "audit/export.py:append_private_line": "lines are appended, and the log itself has them too",
    "mcp_server/routes.py:_notify_clients": "to a connection",
    "mcp_server/routes.py:_send_heartbeats": "to a connection",
    "http/event_stream.py:_serve_client": "to a connection",
    "http/event_stream.py:_send_heartbeat": "to a connection",
    "http/event_stream.py:send_if_wanted": "to a connection",
    "mux/tmux/pane.py:write_bytes": "to a pane",
    "sessions/input/accept/entry_delivery.py:_type": "to a pane",
    "sessions/input/type/typist.py:type_text": "to a pane",
    "sessions/input/type/typist.py:write_bytes": "to a pane",
    "webviews/routes/websocket_relay.py:forward_to": "to a connection",
    "webviews/routes/websocket_relay.py:dataReceived": "to a connection",
    "core/logs/lines.py:_open_stream": "a log that cannot be written is said by its next line",
}
State = dict[str, bytes]


def files_in(folder: Path) -> State:
    """Every file below C{folder}, and what is in it; of a database its tables."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(("-wal", "-shm", "-journal")):
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = (
                _tables(path) if data.startswith(b"SQLite") else data
            )
    return found


def _tables(path: Path) -> bytes:
    connection = sqlite3.connect(path)
    try:
        return repr(connection.execute("SELECT name FROM sqlite_master").fetchall()).encode()
    finally:
        connection.close()


def _same(size: int) -> bytes:
    return b"\1" * size


@frozen(kw_only=True)
class WrittenFile:
    """A file that is written.

    @ivar sites: which functions write it.
    @ivar write: writes it anew in a folder.
    @ivar errors: what the writer says when the disk takes nothing.
    @ivar before: writes the content before; nothing by default.
    @ivar spare: files beside it that may have the old or the new content, whenever.
    @ivar reader: what counts of the content.
    """

    sites: tuple[str, ...]
    write: Callable[[Path], object]
    errors: tuple[type[Exception], ...]
    before: Callable[[Path], object] = field(default=lambda folder: None)
    spare: tuple[str, ...] = ()
    reader: Callable[[bytes], bytes] = field(default=lambda data: data)

    def found(self, folder: Path) -> State:
        return {name: self.reader(data) for name, data in files_in(folder).items()}


def _settings(name: str) -> Callable[[Path], object]:
    def write(folder: Path) -> object:
        service = SettingsService(folder / "settings.json", EventHub(), SignInRule(False))
        return service.change_settings({"displayName": name})

    return write


def _archive(content: str) -> Callable[[Path], object]:
    def write(folder: Path) -> object:
        data = folder / "data"
        if not data.exists():
            data.mkdir()
            sqlite3.connect(data / "tservice.db").close()
        (data / "settings.json").write_text(content)
        terminal = Terminal(
            environ={}, home=folder, out=io.StringIO(), error=io.StringIO(),
            run=run_program, replace=stream_program,
        )  # fmt: skip
        return archive_data(data, folder / "copy.tgz", terminal)

    return write


def _archived(data: bytes) -> bytes:
    """The settings in an archive; other files as they are."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        file = archive.extractfile("settings.json")
        return b"" if file is None else file.read()


def _agent_token(folder: Path) -> None:
    tokens = AgentTokens(
        clock=Clock(),
        random=_same,
        folder=folder / "agent-tokens",
        enabled=lambda: True,
        hub=EventHub(),
        owner=lambda name: None,
        children=lambda session: frozenset(),
        ended=lambda session: None,
    )
    if tokens.issue_token("s1", "ann") is None:
        raise OSError(errno.ENOSPC, "it went to the log")


def _webhook(url: str) -> Callable[[Path], object]:
    return lambda folder: WebhookConfigFile(folder).write_config(WebhookConfig(url=url))


def _endpoints(label: str) -> Callable[[Path], object]:
    endpoint = ModelEndpoint(id="e", label=label, base_url="http://127.0.0.1")
    return lambda folder: open_endpoint_file(folder).write_records([endpoint])


def _hosts(label: str) -> Callable[[Path], object]:
    host = RemoteHost(id="h", label=label, host="far.example", username="me")
    return lambda folder: open_host_file(folder).write_records([host])


def _trusted(key: str) -> Callable[[Path], object]:
    host = RemoteHost(id="h", label="far", host="far.example", username="me")
    return lambda folder: KnownHostsFile(folder).trust_key(host, HostKey("ssh-rsa", key))


def _hooks(telemetry: bool) -> Callable[[Path], object]:
    return lambda folder: HookConfigWriter(folder).write_config(
        folder, hooks=True, telemetry=telemetry, environ={}, inside=ANYWHERE
    )


def _seed(key: str) -> Callable[[Path], object]:
    return lambda folder: seed_first_run(folder, {"ANTHROPIC_API_KEY": key * 30})


def _database(folder: Path) -> None:
    Database.open_file(folder / "tservice.db", clock=Clock()).close()


def _backup(folder: Path) -> None:
    connection = sqlite3.connect(folder / "tservice.db")
    try:
        create_backup(connection, folder / "tservice.db", 1)
    finally:
        connection.close()


def _mcp(after: str) -> Callable[[Path], object]:
    def write(folder: Path) -> None:
        path = folder / "mcp.json"
        with hold_lock(path, folder):
            replace_config(path, read_config(path), after, private=True)

    return write


def _lock(folder: Path) -> None:
    lock = FolderLock(folder)
    lock.startService()
    lock.stopService()


FILES = [
    WrittenFile(
        sites=("restore/scrollback.py:write_scrollback",),
        write=lambda folder: ScrollbackFolder(folder / "kept").write_scrollback("s", b"new"),
        before=lambda folder: ScrollbackFolder(folder / "kept").write_scrollback("s", b"old"),
        errors=(OSError, FileError),
    ),
    WrittenFile(
        sites=("settings/service.py:_write_file",),
        write=_settings("new"),
        before=_settings("old"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=("notify/config_file.py:write_config",),
        write=_webhook("https://b.example.org"),
        before=_webhook("https://a.example.org"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=("store/list_file.py:write_records",),
        write=_endpoints("b"),
        before=_endpoints("a"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=("store/list_file.py:write_records",),
        write=_hosts("b"),
        before=_hosts("a"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=("hosts/host_keys.py:trust_key",),
        write=_trusted("BBBB"),
        before=_trusted("AAAA"),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("models/injection_folders.py:replace_injection_file",),
        write=lambda folder: replace_injection_file(folder / "variables", "b"),
        before=lambda folder: replace_injection_file(folder / "variables", "a"),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("clis/registry_merge.py:write_registry_file",),
        write=lambda folder: write_registry_file(folder / "clis.json", {"b": {}}),
        before=lambda folder: write_registry_file(folder / "clis.json", {"a": {}}),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("agents/hooks/hook_config_writer.py:_update_file",),
        write=_hooks(True),
        before=_hooks(False),
        errors=(FileRefusedError,),
    ),
    WrittenFile(
        sites=("agents/hooks/first_run.py:seed_first_run",),
        write=_seed("b"),
        before=_seed("a"),
        errors=(NotSeededError,),
    ),
    WrittenFile(
        sites=("mcp/locked_files.py:replace_config", "mcp/locked_files.py:hold_lock"),
        write=_mcp('{"a": 1}'),
        before=_mcp("{}"),
        errors=(OSError,),
        # It is whole by itself, and there first.
        spare=("mcp.json.service-bak",),
    ),
    WrittenFile(
        sites=("core/disk/secret_file.py:_write_secret",),
        write=lambda folder: load_hook_secret(folder, _same),
        errors=(StartError,),
    ),
    WrittenFile(
        sites=("access/first_password.py:store_password_hash",),
        write=lambda folder: store_password_hash(folder / "password-hash", "new"),
        before=lambda folder: store_password_hash(folder / "password-hash", "old"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=("tokens/agent_tokens.py:issue_token",), write=_agent_token, errors=(OSError,)
    ),
    WrittenFile(
        sites=("core/disk/secret_file.py:_write_secret",),
        write=lambda folder: load_push_key(folder, _same),
        errors=(StartError,),
    ),
    WrittenFile(sites=("store/database.py:_create_file",), write=_database, errors=(StoreError,)),
    WrittenFile(
        sites=("store/backups.py:create_backup",),
        write=_backup,
        before=_database,
        errors=(OSError, sqlite3.Error),
    ),
    WrittenFile(
        sites=("core/users/shared_folder.py:write_file",),
        write=lambda folder: SharedFolder(Path("/data"), folder).write_file("x", "new", 0o600),
        before=lambda folder: _shared(folder).write_file("x", "old", 0o600),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=(
            "core/process/folder_lock.py:_acquire_lock",
            "core/process/folder_lock.py:_write_pid",
        ),
        write=_lock,
        reader=lambda data: b"",  # what is in it is for a message
        errors=(StartError,),
    ),
    WrittenFile(
        sites=("files/writing.py:_write_file",),
        write=workspace_writers.save_writer("new"),
        before=workspace_writers.save_writer("old"),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=(
            "git/working_copies/working_files.py:_write_entry",
            "git/working_copies/working_files.py:_fill_file",
        ),
        write=workspace_writers.exchange_writer("new"),
        before=workspace_writers.exchange_writer("old"),
        errors=(ServiceError,),
    ),
    WrittenFile(
        sites=(
            "files/uploads/upload_forms.py:_write_gitignore",
            "files/uploads/upload_forms.py:_start_file",
        ),
        write=workspace_writers.upload_writer,
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("files/uploads/sweeper.py:_write_file",),
        write=workspace_writers.sweep_writer("b"),
        before=workspace_writers.sweep_writer("a"),
        errors=(),
    ),
    WrittenFile(
        sites=("client/commands/files.py:_open_replacement",),
        write=workspace_writers.fetch_writer(b"new"),
        before=workspace_writers.fetch_writer(b"old"),
        errors=(Unusable,),
    ),
    WrittenFile(
        sites=("client/tls.py:make_certificate",),
        write=lambda folder: make_certificate(folder / "tls", ["a.example.org"], 9, 1.8e9),
        errors=(OSError,),
        reader=lambda data: data.splitlines()[-1],  # the rest is random
    ),
    WrittenFile(
        sites=("console/unit.py:write_unit",),
        write=lambda folder: write_unit(folder / "user/tservice.service", "new"),
        before=lambda folder: write_unit(folder / "user/tservice.service", "old"),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("core/process/folder_lock.py:write_addresses",),
        write=lambda folder: write_addresses(folder / "address", ["http://127.0.0.1:2/"]),
        before=lambda folder: write_addresses(folder / "address", ["http://127.0.0.1:1/"]),
        errors=(OSError,),
    ),
    WrittenFile(
        sites=("console/backup.py:create_backup",),
        write=_archive("new"),
        before=_archive("old"),
        errors=(CommandError, OSError),
        spare=("data/tservice.db", "data/settings.json"),
        reader=_archived,
    ),
]


def _shared(folder: Path) -> SharedFolder:
    shared = SharedFolder(Path("/data"), folder)
    shared.create_folder()
    return shared


@pytest.mark.long
class EveryFileTests(SynchronousTestCase):
    def folder(self) -> Path:
        # Of mode 0700.
        return Path(tempfile.mkdtemp(dir=self.base)).absolute()

    def setUp(self) -> None:
        self.base = Path(self.mktemp())
        self.base.mkdir()

    def attempt(self, file: WrittenFile, folder: Path, after: int) -> FullDisk:
        with FullDisk(after).everywhere() as disk, contextlib.suppress(*file.errors):
            file.write(folder)
        return disk

    def judge(self, file: WrittenFile, folder: Path, old: State, new: State, step: int) -> None:
        place = f"{file.sites[0]}, step {step}"
        found = file.found(folder)
        for name in {*old, *new, *found} - set(file.spare):
            could = [state.get(name) for state in (old, new)]
            self.assertIn(found.get(name), could, f"{place}: {name}")
        file.write(folder)
        self.assertEqual(set(new), set(file.found(folder)), place)

    def test_interrupted_write_leaves_the_old_or_the_new_file(self) -> None:
        for file in FILES:
            whole = self.folder()
            file.before(whole)
            old = file.found(whole)
            file.write(whole)
            new = file.found(whole)
            self.assertNotEqual(old, new)
            step, refused = 0, True
            while refused:
                folder = self.folder()
                file.before(folder)
                refused = self.attempt(file, folder, step).refused
                if refused:
                    self.judge(file, folder, old, new, step)
                step += 1
            self.assertGreater(step, 3, file.sites)

    def test_every_file_writer_is_covered(self) -> None:
        known = {site for file in FILES for site in file.sites} | set(ELSEWHERE)
        found = {site for site in _sites() if site.partition(":")[0] not in ELSEWHERE}
        self.assertEqual(known - set(ELSEWHERE), found - set(ELSEWHERE))


def _sites() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        module = ast.parse(path.read_text())
        making = set(_making_flags(module))
        for function in ast.walk(module):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if any(_writes(node, making) for node in ast.walk(function)):
                yield f"{path.relative_to(SOURCE)}:{function.name}"


def _making_flags(module: ast.Module) -> Iterator[str]:
    """Names of the flags of a module by which a file is made."""
    for each in module.body:
        if isinstance(each, ast.Assign) and any(_writes(node, set()) for node in ast.walk(each)):
            yield from (ast.unparse(target) for target in each.targets)


def _writes(node: ast.AST, making: set[str]) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "O_CREAT":
        return True
    if isinstance(node, ast.Name) and node.id in making:
        return True
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
    opens = name in ("open", "fdopen") and not {"w", "a", "x", "wb", "ab"}.isdisjoint(modes)
    return name in WRITERS or opens
