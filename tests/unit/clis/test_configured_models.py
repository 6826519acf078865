"""Reading the model out of agents' own configuration files."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import build_test_runtime
from tservice.clis.build import build_clis

FILES = {
    "primary": (".claude/settings.json", '{"model": "m-1"}', "CLAUDE_CONFIG_DIR", ".claude"),
    "codex": (".codex/config.toml", 'a = 1\nmodel = "m-1"\n[x]\ny = 1', "CODEX_HOME", ".codex"),
    "opencode": (
        ".config/opencode/opencode.json",
        '{"model": "m-1"}',
        "XDG_CONFIG_HOME",
        ".config",
    ),
    "gemini": (".gemini/settings.json", '{"model": {"name": "m-1"}}', "GEMINI_CLI_HOME", ""),
}


class ConfiguredTests(SynchronousTestCase):
    """A home folder with the agents' files, asked through the registry as a whole."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute()
        data = self.home / "data"
        data.mkdir(parents=True)
        ground = build_test_runtime(self.home, home=self.home, environ={"HOME": str(self.home)})
        self.registry = build_clis(ground).service

    def model(self, mode: str, **env: str) -> str | None:
        return self.registry.read_configured_model(mode, {"HOME": str(self.home), **env})

    def put(self, path: str, content: str) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def test_model_is_read_from_every_settings_file(self) -> None:
        for mode, (path, content, _, _) in FILES.items():
            self.assertIsNone(self.model(mode))
            self.put(path, content)
            self.assertEqual("m-1", self.model(mode), mode)

    def test_moved_settings_files_are_read(self) -> None:
        for mode, (path, content, variable, folder) in FILES.items():
            self.put(f"moved/{path}", content)
            moved = {variable: str(self.home / "moved" / folder)}
            self.assertEqual("m-1", self.model(mode, **moved), mode)
            self.assertIsNone(self.model(mode, **{variable: "moved"}), mode)
            self.assertIsNone(self.model(mode, **{variable: ""}), mode)

    def test_unusable_settings_give_no_model(self) -> None:
        for content in ("{", "[]", "{}", '{"model": 3}', '{"model": ""}', '{"model": {"a": 1}}'):
            self.put(".claude/settings.json", content)
            self.assertIsNone(self.model("primary"), content)
        self.put(".codex/config.toml", "model = ")
        self.assertIsNone(self.model("codex"))
        self.assertIsNone(self.registry.read_configured_model("codex", {}))

    def test_model_names_are_cleaned_and_truncated(self) -> None:
        self.put(".claude/settings.json", '{"model": "a\\u001b[31m' + "b" * 100 + '"}')
        self.assertEqual("a[31m" + "b" * 59, self.model("primary"))

    def test_modes_without_a_settings_file_have_no_model(self) -> None:
        for mode in ("shell", "pi", "nope"):
            self.assertIsNone(self.model(mode))

    def test_settings_that_are_slow_to_parse_give_no_model(self) -> None:
        """What TOML's does for a key goes by the parts of its table's name, and by their number."""
        deep = "[" + ".".join("a" * 31) + "]\n"
        hostile = {
            "parts and keys": "[" + ".".join("a" * 20_000) + "]\n" + "k = 1\n" * 20_000,
            "parts": ".".join("a" * 40_000) + " = 1",
            "parts apart": " . ".join("a" * 40_000) + " = 1",
            "quoted parts": ".".join(['"a b"'] * 20_000) + " = 1",
            "keys": deep + "".join(f"k{i} = 1\n" for i in range(30_000)),
            "nesting": "a = " + "[" * 50_000,
            "a word": "a" * 250_000,
            "quotes": "'" * 250_000,
            "size": "#" * 2_000_000,
        }
        for name, content in hostile.items():
            self.put(".codex/config.toml", 'model = "m"\n' + content)
            self.assertIsNone(self.model("codex"), name)

    def test_large_settings_file_is_read(self) -> None:
        projects = "".join(
            f'[projects."/home/me/work.d/p.{i}"]\ntrust_level = "trusted"\n' for i in range(2000)
        )
        self.put(".codex/config.toml", f'model = "m-1"\n{projects}')
        self.assertEqual("m-1", self.model("codex"))
