"""What is done to a pane, and what is left of it on the disk."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.clis.interfaces import CustomModelStyle, Injection, InjectionTarget
from tservice.models import injection_folders
from tservice.models.injection import build_injection, make_target, remove_variables
from tservice.models.model import AuthStyle, ModelEndpoint, OfferedModel

KEY = "sk-'$(id)' 0123456789-0123456789".replace(" ", "")
ENDPOINT = ModelEndpoint(
    id="e",
    label='A "quoted" one',
    base_url="http://h:1/v1",
    api_key=SecretStr(KEY),
    models=(OfferedModel(id="m", context_length=50_000),),
)


class InjectionCase(SynchronousTestCase):
    def setUp(self) -> None:
        self.base = Path(self.mktemp()).absolute()
        self.home = self.base / "home"
        self.home.mkdir(parents=True)
        self.folder = self.base / "data" / "model-homes" / "s"

    def target(self, style: AuthStyle = AuthStyle.BEARER, **env: str) -> InjectionTarget:
        return make_target(
            evolve(ENDPOINT, auth_style=style),
            "m",
            folder=self.folder,
            env={"HOME": str(self.home), **env},
        )

    def made(self, kind: CustomModelStyle, style: AuthStyle = AuthStyle.BEARER) -> Injection:
        found = build_injection(kind, self.target(style))
        assert found is not None
        return found

    def put(self, made: Injection) -> None:
        injection_folders.write_injection(self.folder, made, "/work")

    def read(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")


class InjectionStyleTests(InjectionCase):
    """Each agent's own way."""

    def test_every_style_is_covered(self) -> None:
        for kind in CustomModelStyle:
            found = build_injection(kind, self.target())
            self.assertEqual(kind is CustomModelStyle.NONE, found is None)
            if found is not None:
                self.assertNotIn(KEY, "".join(found.env.values()) + repr(found))
                self.assertIn(KEY, "".join(found.secrets.values()))

    def test_claude_gets_the_key_by_variable(self) -> None:
        made = self.made(CustomModelStyle.CLAUDE_ENV)
        self.assertEqual({"ANTHROPIC_AUTH_TOKEN": KEY}, made.secrets)
        self.assertEqual("http://h:1", made.env["ANTHROPIC_BASE_URL"])
        self.assertEqual("m", made.env["ANTHROPIC_DEFAULT_HAIKU_MODEL"])
        keyed = self.made(CustomModelStyle.CLAUDE_ENV, AuthStyle.API_KEY)
        self.assertEqual({"ANTHROPIC_API_KEY": KEY}, keyed.secrets)
        approved = json.loads(keyed.files[".claude.json"])["customApiKeyResponses"]["approved"]
        self.assertEqual([KEY[-20:]], approved)

    def test_conflicting_variables_are_removed(self) -> None:
        env = {
            "ANTHROPIC_API_KEY": "own",
            "ANTHROPIC_CUSTOM_HEADERS": "x",
            "CLAUDE_CODE_OAUTH_TOKEN": "own",
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "PATH": "/bin",
        }
        made = self.made(CustomModelStyle.CLAUDE_ENV)
        self.assertEqual({"PATH": "/bin"}, remove_variables(env, made.unset))

    def test_codex_gets_the_key_by_variable(self) -> None:
        made = self.made(CustomModelStyle.CODEX_HOME, AuthStyle.API_KEY)
        config = tomllib.loads(made.files["config.toml"])
        provider = config["model_providers"][config["model_provider"]]
        self.assertEqual(("m", 50_000), (config["model"], config["model_context_window"]))
        self.assertEqual('A "quoted" one', provider["name"])
        self.assertEqual("http://h:1/v1", provider["base_url"])
        self.assertEqual(KEY, made.secrets[provider["env_key"]])
        self.assertEqual({"x-api-key": provider["env_key"]}, provider["env_http_headers"])
        self.assertEqual([provider["env_key"]], config["shell_environment_policy"]["exclude"])

    def test_opencode_gets_the_key_in_its_content(self) -> None:
        made = self.made(CustomModelStyle.OPENCODE_CONTENT, AuthStyle.API_KEY)
        content = json.loads(made.secrets["OPENCODE_CONFIG_CONTENT"])
        self.assertEqual("custom/m", content["model"])
        self.assertEqual({"x-api-key": KEY}, content["provider"]["custom"]["options"]["headers"])

    def test_pi_gets_the_key_by_variable(self) -> None:
        """Its key is named, never written: pi runs what begins with an exclamation mark."""
        made = self.made(CustomModelStyle.PI_HOME)
        self.assertNotIn(KEY, "".join(made.files.values()))
        provider = json.loads(made.files["models.json"])["providers"]["custom"]
        ((name, key),) = made.secrets.items()
        self.assertEqual(KEY, key)
        # The shell puts its value in, whatever that is, as one argument of a builtin.
        self.assertEqual(f'!printf %s "${{{name}:-none}}"', provider["apiKey"])

    def test_gemini_keeps_the_settings_of_the_user(self) -> None:
        own = self.home / ".gemini" / "settings.json"
        own.parent.mkdir()
        security = {"auth": {"selectedType": "oauth-personal"}, "folderTrust": {"enabled": True}}
        own.write_text(json.dumps({"security": security, "ui": {"theme": "x"}}))
        self.put(self.made(CustomModelStyle.GEMINI_ENV))
        kept = json.loads(self.read(".gemini/settings.json"))
        self.assertEqual("gemini-api-key", kept["security"]["auth"]["selectedType"])
        self.assertEqual({"enabled": True}, kept["security"]["folderTrust"])
        self.assertEqual({"theme": "x"}, kept["ui"])
        own.write_text("// not JSON")
        self.put(self.made(CustomModelStyle.GEMINI_ENV))
        kept = json.loads(self.read(".gemini/settings.json"))
        self.assertEqual({"security": {"auth": {"selectedType": "gemini-api-key"}}}, kept)


class InjectionFolderTests(InjectionCase):
    """What is written, with which mode, and what becomes of it."""

    def test_written_files_have_private_modes_and_links(self) -> None:
        made = self.made(CustomModelStyle.CLAUDE_ENV)
        self.put(made)
        self.put(made)
        self.assertEqual(0o700, self.folder.stat().st_mode & 0o777)
        for path in self.folder.iterdir():
            if path.is_file():
                self.assertEqual(0o600, path.stat().st_mode & 0o777, path)
        projects = self.home / ".claude" / "projects"
        self.assertEqual(projects, (self.folder / "projects").readlink())
        (projects / "kept").write_text("x")
        injection_folders.remove_folder(self.folder)
        injection_folders.remove_folder(self.folder)
        self.assertFalse(self.folder.exists())
        self.assertTrue((projects / "kept").exists())

    def test_trust_of_the_user_is_copied(self) -> None:
        """Of the working folder alone, and only when it is trust."""
        own = self.home / ".claude.json"
        for said, expected in [(True, {"/work"}), (False, set()), ("yes", set())]:
            projects = {"/work": {"hasTrustDialogAccepted": said}, "/x": {"mcpServers": {}}}
            own.write_text(json.dumps({"projects": projects, "oauthAccount": {"a": 1}}))
            self.put(self.made(CustomModelStyle.CLAUDE_ENV))
            kept = json.loads(self.read(".claude.json"))
            self.assertEqual(expected, set(kept.get("projects", {})))
            self.assertNotIn("oauthAccount", kept)

    def test_moved_configuration_folder_is_used(self) -> None:
        target = self.target(CLAUDE_CONFIG_DIR=str(self.base / "moved"))
        made = build_injection(CustomModelStyle.CLAUDE_ENV, target)
        assert made is not None
        self.assertEqual(self.base / "moved" / "projects", made.links["projects"])
        self.assertEqual(self.base / "moved" / ".claude.json", made.trusted)

    def test_leftover_folders_are_found(self) -> None:
        base = self.base / "homes"
        self.assertEqual([], injection_folders.find_orphaned_folders(base, []))
        known, gone = "0" * 36, "1" * 36
        for name in (known, gone, "something else"):
            (base / name).mkdir(parents=True)
        self.assertEqual([base / gone], injection_folders.find_orphaned_folders(base, [known]))

    @settings(deadline=None, max_examples=example_count(30))
    @given(st.dictionaries(st.sampled_from("ABC"), st.text(st.characters(exclude_characters="\0",
           exclude_categories=["Cs"]), max_size=20), min_size=1))  # fmt: skip
    def test_program_receives_any_value_unchanged(self, variables: Mapping[str, str]) -> None:
        folder = Path(self.mktemp()).absolute()
        injection_folders.write_injection(folder, Injection(secrets=variables), "/work")
        script = "import os, json, sys; print(json.dumps([dict(os.environ), sys.argv[1:]]))"
        argv = injection_folders.wrap_command(
            ("/usr/bin/env", "python3", "-c", script, "a b", "$x"), folder
        )
        ended = subprocess.run(argv, env={"PATH": "/usr/bin:/bin"}, capture_output=True, check=True)
        found, arguments = json.loads(ended.stdout)
        self.assertEqual(["a b", "$x"], arguments)
        self.assertEqual(variables, {name: found[name] for name in variables})
