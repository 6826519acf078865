"""Where programs are usually put."""

from __future__ import annotations

import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.process.program_folders import (
    MOST_VERSIONS,
    find_matching_folders,
    find_npm_folder,
    format_search_folders,
    format_shell_patterns,
    join_path,
    list_folder_patterns,
    list_version_folders,
    sort_program_folders,
)


class ProgramFolderTests(SynchronousTestCase):
    """A home folder whose name a pattern could take for its own."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute() / "[it's] * ?"
        self.home.mkdir(parents=True)

    def make(self, *folders: str) -> list[str]:
        for folder in folders:
            (self.home / folder).mkdir(parents=True)
        return [str(self.home / folder) for folder in folders]

    def found(self, *patterns: str) -> list[str]:
        return list(map(str, find_matching_folders(patterns, self.home)))

    def test_newest_version_folder_comes_first(self) -> None:
        names = ("v22.10.0", "v22.9.1", "v9.11.2")
        want = self.make(*(f".nvm/versions/node/{name}/bin" for name in names))
        self.assertEqual(want, self.found("~/.nvm/versions/node/*/bin"))

    def test_number_of_version_folders_is_bounded(self) -> None:
        self.make(*(f"v{number}/bin" for number in range(MOST_VERSIONS + 5)))
        found = self.found("~/*/bin")
        self.assertEqual(MOST_VERSIONS, len(found))
        self.assertEqual(str(self.home / f"v{MOST_VERSIONS + 4}/bin"), found[0])

    def test_environment_variables_name_other_program_folders(self) -> None:
        named = {"NVM_DIR": "/opt/nvm/", "BUN_INSTALL": "relative", "XDG_DATA_HOME": "/data"}
        patterns = list_folder_patterns({**named, "NPM_CONFIG_PREFIX": "/npm"})
        for folder in ("/opt/nvm/versions/node/*/bin", "~/.bun/bin", "/data/pnpm", "/npm/bin"):
            self.assertIn(folder, patterns)
        self.assertNotIn("~/.nvm/versions/node/*/bin", patterns)

    def test_npm_settings_name_a_program_folder(self) -> None:
        self.assertEqual((), find_npm_folder(self.home))
        for text, want in (
            ("prefix=/opt/npm", ("/opt/npm/bin",)),
            ('; a comment\nprefix = "~/npm dir"\n', (f"{self.home}/npm dir/bin",)),
            ("x=1\n prefix=${HOME}/n/\n", (f"{self.home}/n/bin",)),
            ("save-prefix=~\n", ()),
            ("prefix=relative\n", ()),
            ("# " + "x" * 70_000 + "\nprefix=/late\n", ()),
        ):
            (self.home / ".npmrc").write_text(text)
            self.assertEqual(want, find_npm_folder(self.home), text[:40])

    def test_shell_finds_the_same_folders(self) -> None:
        names = [".local/bin", ".nvm/versions/node/v9.1.0/bin", ".nvm/versions/node/v22.1.0/bin",
                 ".local/share/mise/installs/node/22/bin", ".claude/local"]  # fmt: skip
        self.make(*names)
        loop = f'for d in {format_shell_patterns()}; do [ -d "$d" ] && printf "%s\\n" "$d"; done'
        told = subprocess.run(
            ["/bin/sh", "-c", loop], env={"HOME": str(self.home)}, capture_output=True, text=True
        )
        there = told.stdout.splitlines()
        mine = [each for each in there if each.startswith(str(self.home))]
        self.assertEqual({str(self.home / name) for name in names}, set(mine))
        want = [each for each in self.found(*list_folder_patterns({})) if Path(each).is_dir()]
        self.assertEqual(want, list(sort_program_folders(there, str(self.home))))

    def test_folders_are_listed_for_display_and_for_probing(self) -> None:
        patterns = ("~/.bun/bin", "~/.nvm/versions/node/*/bin", "/opt/x")
        base = str(self.home)
        self.assertEqual(
            (f"{base}/.bun/bin", f"{base}/.nvm/versions/node/*/bin", "/opt/x"),
            format_search_folders(patterns, self.home),
        )
        self.assertEqual(
            (f"{base}/.bun/bin", f"{base}/.nvm/versions/node", "/opt/x"),
            list_version_folders(patterns, self.home),
        )

    def test_path_skips_relative_and_repeated_folders(self) -> None:
        self.assertEqual("/a:/b:/c", join_path("/a::.:/b", "b:/c:/a"))
        self.assertEqual("", join_path("", ":"))
