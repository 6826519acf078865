"""Layers of configuration: which one wins, and what stops a start."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tservice.core.config.load import NO_HTTP2, LoadedConfig, load_config
from tservice.core.config.model import Config, list_settings
from tservice.core.kernel.errors import StartError

HOME = Path("/home/someone")


class LoadCase(SynchronousTestCase):
    def yaml(self, text: str, mode: int = 0o600) -> Path:
        path = Path(self.mktemp())
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def load(
        self,
        options: dict[str, object] | None = None,
        environ: dict[str, str] | None = None,
        yaml: str | None = None,
    ) -> LoadedConfig:
        given_options = dict(options or {})
        if yaml is not None:
            given_options["config"] = str(self.yaml(yaml))
        return load_config(given_options, environ or {}, HOME)

    def refused(
        self,
        options: dict[str, object] | None = None,
        environ: dict[str, str] | None = None,
        yaml: str | None = None,
    ) -> str:
        """The one line that stops the start."""
        line = str(self.assertRaises(StartError, self.load, options, environ, yaml))
        self.assertEqual(1, len(line.splitlines()))
        return line


class ConfigLayerTests(LoadCase):
    def test_defaults_are_loaded(self) -> None:
        config = self.load().config
        self.assertEqual(("tcp:8770:interface=127.0.0.1",), config.listen)
        self.assertEqual(HOME / ".tservice", config.data_dir)
        self.assertEqual(HOME / "service-cases", config.cases_dir)
        self.assertIsNone(config.password)

    def test_each_layer_overrides_the_one_below(self) -> None:
        yaml = "max-sessions: 3"
        environ = {"SERVICE_MAX_SESSIONS": "4"}
        options: dict[str, object] = {"max-sessions": "5"}
        self.assertEqual(50, self.load().config.max_sessions)
        self.assertEqual(3, self.load(yaml=yaml).config.max_sessions)
        self.assertEqual(4, self.load(yaml=yaml, environ=environ).config.max_sessions)
        self.assertEqual(5, self.load(options, environ, yaml).config.max_sessions)

    def test_configuration_file_may_be_named_by_the_environment(self) -> None:
        path = self.yaml("gesture: true")
        found = self.load(environ={"SERVICE_CONFIG": str(path)})
        self.assertTrue(found.config.gesture)
        self.assertEqual((), found.warnings)

    def test_empty_variable_counts_as_unset(self) -> None:
        environ = {"SERVICE_PASSWORD": "", "SERVICE_MAX_SESSIONS": "", "SERVICE_CONFIG": ""}
        self.assertEqual(50, self.load(environ=environ).config.max_sessions)

    def test_lists_are_parsed(self) -> None:
        want = ("example.org", ".example.net")
        self.assertEqual(
            want,
            self.load(yaml="allowed-hosts: [Example.org, .example.net]").config.allowed_hosts,
        )
        environ = {"SERVICE_ALLOWED_HOSTS": "example.org, .example.net,"}
        self.assertEqual(want, self.load(environ=environ).config.allowed_hosts)

    def test_tilde_is_the_home_folder_and_paths_are_absolute(self) -> None:
        config = self.load(environ={"SERVICE_DATA_DIR": "~/x", "SERVICE_CASES_DIR": "y"}).config
        self.assertEqual(HOME / "x", config.data_dir)
        self.assertEqual(Path.cwd() / "y", config.cases_dir)

    def test_pane_variables_of_an_outer_service_are_ignored(self) -> None:
        environ = {
            "SERVICE_API_URL": "http://127.0.0.1:1",
            "SERVICE_MUX": "1",
            "SERVICE_SESSION_ID": "x",
            "SERVICE_HOOK_SECRET_FILE": "/x",
        }
        found = self.load(environ=environ)
        self.assertIsNone(found.config.api_url)
        self.assertEqual((), found.warnings)

    def test_unknown_variable_gives_one_warning(self) -> None:
        found = self.load(environ={"SERVICE_MAX_SESSION": "4", "OTHER": "1"})
        self.assertEqual(("SERVICE_MAX_SESSION: unknown setting, ignored",), found.warnings)

    def test_deprecated_http2_gives_one_warning_from_every_layer(self) -> None:
        for found in (
            self.load(yaml="http2: true"),
            self.load(environ={"SERVICE_HTTP2": "1"}),
            self.load({"http2": True}),
            self.load({"http2": True}, {"SERVICE_HTTP2": "1"}, "http2: true"),
        ):
            self.assertEqual((NO_HTTP2,), found.warnings)
        self.assertEqual((), self.load(yaml="http2: false").warnings)


class ConfigRefusalTests(LoadCase):
    def test_unknown_key_is_named_with_a_suggestion(self) -> None:
        line = self.refused(yaml="max_session: 3")
        self.assertIn("unknown key 'max_session' (did you mean max-sessions?)", line)

    def test_invalid_value_names_its_source(self) -> None:
        self.assertIn("max-sessions: must be a whole", self.refused(yaml="max-sessions: many"))
        self.assertIn(
            "SERVICE_MAX_SESSIONS: must be a whole",
            self.refused(environ={"SERVICE_MAX_SESSIONS": "0"}),
        )
        self.assertIn(
            "--max-sessions: must be a whole number from 1 to 10000",
            self.refused({"max-sessions": "1.5"}),
        )

    def test_invalid_values_of_every_type_are_refused(self) -> None:
        for variable, value in [
            ("SERVICE_MULTIUSER", "maybe"),
            ("SERVICE_LOG_FORMAT", "xml"),
            ("SERVICE_LOG_LEVEL", "loud"),
            ("SERVICE_USERNAME", "a:b"),
            ("SERVICE_ALLOWED_HOSTS", "a b"),
            ("SERVICE_ALLOWED_ORIGINS", "https://example.org"),
            ("SERVICE_ALLOWED_ORIGINS", "http://localhost:1/path"),
            ("SERVICE_ALLOWED_ORIGINS", "http://localhost.example.org"),
            ("SERVICE_ALLOWED_ORIGINS", "http://localhost@example.org"),
            ("SERVICE_TRUSTED_PROXIES", "nginx"),
            ("SERVICE_BASE_PATH", "x"),
            ("SERVICE_BASE_PATH", "/../x"),
            ("SERVICE_PANE_ENV", "SERVICE_PASSWORD"),
            ("SERVICE_PANE_ENV", "A-B"),
            ("SERVICE_OUTPUT_RING", "8MB"),
            ("SERVICE_DATA_DIR", "a\nb"),
        ]:
            line = self.refused(environ={variable: value})
            self.assertIn(f"{variable}: must", line)
            self.assertNotIn(value, line.split(": ", 2)[2].split(" such as ")[0])

    def test_malformed_yaml_is_refused(self) -> None:
        self.assertIn("must be a mapping of keys to values", self.refused(yaml="- a"))
        self.assertIn("not valid YAML (line 2)", self.refused(yaml="a: 1\nb: ["))
        self.assertEqual(50, self.load(yaml="# nothing\n").config.max_sessions)

    def test_missing_configuration_file_is_refused(self) -> None:
        missing = "/nowhere/t.yaml: No such file or directory"
        self.assertIn(f" --config: {missing}", self.refused({"config": "/nowhere/t.yaml"}))
        line = self.refused(environ={"SERVICE_CONFIG": "/nowhere/t.yaml"})
        self.assertIn(f" SERVICE_CONFIG: {missing}", line)

    def test_yaml_configuration_types_are_strict(self) -> None:
        self.assertIn("max-sessions: must", self.refused(yaml="max-sessions: 2.0"))
        self.assertIn("max-sessions: must", self.refused(yaml="max-sessions: true"))
        self.assertIn("listen: must", self.refused(yaml="listen: {a: b}"))
        self.assertIn("username: must", self.refused(yaml="username: 5"))


class PasswordTests(LoadCase):
    def test_password_file_is_named_by_the_environment(self) -> None:
        path = self.yaml("open sesame\nmore\n")
        config = self.load(environ={"SERVICE_PASSWORD_FILE": str(path)}).config
        self.assertEqual("open sesame", config.password)

    def test_password_of_the_nearest_layer_wins(self) -> None:
        path = self.yaml("from-file\n")
        environ = {"SERVICE_PASSWORD": "from-environment"}
        options: dict[str, object] = {"password-file": str(path)}
        self.assertEqual("from-file", self.load(options, environ).config.password)
        under = f"password-file: {path.absolute()}"
        self.assertEqual("from-environment", self.load(None, environ, under).config.password)

    def test_systemd_credential_is_the_lowest_layer(self) -> None:
        folder = Path(self.mktemp())
        folder.mkdir()
        (folder / "tservice.password").write_text("from-systemd\n")
        environ = {"CREDENTIALS_DIRECTORY": str(folder)}
        self.assertEqual("from-systemd", self.load(environ=environ).config.password)
        self.assertEqual("y", self.load(environ=environ, yaml="password: y").config.password)

    def test_password_and_file_in_one_layer_are_refused(self) -> None:
        path = self.yaml("x\n")
        environ = {"SERVICE_PASSWORD": "y", "SERVICE_PASSWORD_FILE": str(path)}
        self.assertIn("use one of them", self.refused(environ=environ))

    def test_password_file_readable_by_others_is_refused(self) -> None:
        path = self.yaml("x\n", 0o644)
        self.assertIn("mode 0644", self.refused(environ={"SERVICE_PASSWORD_FILE": str(path)}))
        path = self.yaml("password: x\n", 0o604)
        self.assertIn("mode 0604", self.refused({"config": str(path)}))

    def test_missing_password_file_names_the_setting(self) -> None:
        missing = "/nope: No such file or directory"
        line = self.refused(environ={"SERVICE_PASSWORD_FILE": "/nope"})
        self.assertIn(f" SERVICE_PASSWORD_FILE: {missing}", line)
        line = self.refused({"password-file": "/nope"})
        self.assertIn(f" --password-file: {missing}", line)
        self.assertIn(f": password-file: {missing}", self.refused(yaml="password-file: /nope"))

    def test_every_fault_of_a_password_file_names_the_setting(self) -> None:
        for content, mode in (("", 0o600), ("x\n", 0o604)):
            path = self.yaml(content, mode).absolute()
            line = self.refused(environ={"SERVICE_PASSWORD_FILE": str(path)})
            self.assertIn(f" SERVICE_PASSWORD_FILE: {path}: ", line)
        for content, mode in (("- a", 0o600), ("a: [", 0o600), ("password: x", 0o604)):
            path = self.yaml(content, mode).absolute()
            line = self.refused({"config": str(path)})
            self.assertIn(f" --config: {path}: ", line)

    def test_empty_credential_is_refused(self) -> None:
        folder = Path(self.mktemp())
        folder.mkdir()
        (folder / "tservice.password").touch()
        line = self.refused(environ={"CREDENTIALS_DIRECTORY": str(folder)})
        self.assertIn("credential tservice.password: ", line)

    def test_empty_password_file_is_refused(self) -> None:
        path = self.yaml("\n")
        line = self.refused(environ={"SERVICE_PASSWORD_FILE": str(path)})
        self.assertIn("first line must be the password", line)

    def test_password_is_never_shown(self) -> None:
        config = self.load(environ={"SERVICE_PASSWORD": "open sesame"}).config
        self.assertEqual("open sesame", config.password)
        self.assertNotIn("sesame", repr(config))
        self.assertNotIn("sesame", self.refused(environ={"SERVICE_PASSWORD": "open\nsesame"}))

    def test_password_has_no_command_line_option(self) -> None:
        """Every user of the machine reads the command lines of every process."""
        hidden = [entry.name for entry in list_settings() if not entry.on_command_line]
        self.assertEqual(["password"], hidden)


class ConfigTableTests(SynchronousTestCase):
    def test_every_field_is_a_setting_with_a_parsable_default(self) -> None:
        for entry in require_items(list_settings()):
            self.assertEqual(getattr(Config(), entry.attribute), entry.default)
            if entry.default is not None:
                shown = str(entry.default) if isinstance(entry.default, os.PathLike) else None
                self.assertEqual(entry.default, entry.parse(shown or entry.default))

    @given(st.one_of(st.none(), st.text(), st.integers(), st.floats(), st.lists(st.text())))
    def test_parser_gives_a_value_or_a_rule(self, raw: object) -> None:
        for entry in require_items(list_settings()):
            try:
                entry.parse(raw)
            except ValueError as rule:
                self.assertTrue(str(rule).startswith("must "), (entry.name, rule))
