"""The code in the folders of the packaged CLIs."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tservice.clis import agents
from tservice.clis.agents.adapter_registry import (
    ADAPTERS,
    CONVERSATION_STORES,
    MODEL_INJECTIONS,
    ONE_SHOT_COMMANDS,
)
from tservice.clis.capabilities import CustomModelStyle
from tservice.clis.model import PRIMARY
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.values.yamltext import parse_yaml

UNTRIED = {"cline", "cn", "amp", "auggie", "cursor-agent", "droid", "grok", "kimi"}
ROOT = Path(agents.__path__[0])


class AdapterTests(SynchronousTestCase):
    """Each is beside the entry whose mode it names, and members are optional."""

    def test_adapter_names_the_entry_of_its_own_folder(self) -> None:
        folders = sorted(path.parent for path in ROOT.glob("*/adapter.py"))
        ids = [parse_yaml((folder / "entry.yaml").read_text("utf-8"))["id"] for folder in folders]
        self.assertEqual(require_items(ids), list(ADAPTERS))

    def test_entry_without_an_adapter_is_complete(self) -> None:
        self.assertEqual(
            {"antigravity", "shell"} | UNTRIED, set(load_stock_entries()) - set(ADAPTERS)
        )

    def test_style_of_every_entry_has_its_injection(self) -> None:
        styles = {
            entry.capabilities.custom_model.style
            for entry in load_stock_entries().values()
            if entry.capabilities.custom_model.style is not CustomModelStyle.NONE
        }
        self.assertEqual(styles, set(MODEL_INJECTIONS))

    def test_conversations_are_below_the_home_folder(self) -> None:
        for mode, store in require_items(CONVERSATION_STORES.items()):
            self.assertFalse(Path(store.below).is_absolute(), mode)
            self.assertNotIn("..", Path(store.below).parts, mode)


class OneShotTests(SynchronousTestCase):
    """L{OneShotCommand.build_argv}."""

    def test_model_is_named_only_to_a_cli_that_has_a_flag_for_it(self) -> None:
        claude, codex = ONE_SHOT_COMMANDS[PRIMARY], ONE_SHOT_COMMANDS["codex"]
        self.assertEqual(("--model", "opus"), claude.build_argv("/bin/claude", "opus")[-2:])
        self.assertEqual(("/bin/codex", *codex.arguments), codex.build_argv("/bin/codex", "opus"))

    def test_empty_model_leaves_the_default(self) -> None:
        self.assertNotIn("--model", ONE_SHOT_COMMANDS[PRIMARY].build_argv("/bin/claude", ""))
