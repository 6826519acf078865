"""The command line of C{twistd tservice}."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.config.model import Config
from tservice.core.errors import StartError
from tservice.tap import Options


class OptionsTests(SynchronousTestCase):
    def parse(self, *words: str, **environ: str) -> Config:
        options = Options(environ, Path("/home/someone"))
        options.parseOptions(list(words))
        return options.loaded.config

    def refused(self, *words: str) -> str:
        return str(self.assertRaises(StartError, self.parse, *words))

    def test_values_and_lists(self) -> None:
        config = self.parse("--max-sessions=7", "--allowed-hosts", "a.org,b.org")
        self.assertEqual(7, config.max_sessions)
        self.assertEqual(("a.org", "b.org"), config.allowed_hosts)

    def test_endpoints_may_be_repeated_and_hold_commas(self) -> None:
        config = self.parse("--listen=unix:a,b", "--listen=tcp:1")
        self.assertEqual(("unix:a,b", "tcp:1"), config.listen)

    def test_a_flag_both_ways(self) -> None:
        self.assertTrue(self.parse("--multiuser").multiuser)
        self.assertTrue(self.parse(SERVICE_MULTIUSER="1").multiuser)
        self.assertFalse(self.parse("--no-multiuser", SERVICE_MULTIUSER="1").multiuser)
        self.assertIn("use one of them", self.refused("--multiuser", "--no-multiuser"))

    def test_mistakes_are_one_line(self) -> None:
        for words in [["--bogus"], ["word"], ["--max-sessions"], ["--password=x"]]:
            self.assertEqual(1, len(self.refused(*words).splitlines()), words)

    def test_a_long_option_has_no_abbreviation(self) -> None:
        """C{--password} would be C{--password-file}, and its value a file that an error names."""
        for words in [
            ["--password", "hunter2"],
            ["--password=hunter2"],
            ["--listen", "tcp:1", "--pass=hunter2"],
            ["--gesture", "--password-fil", "hunter2"],
        ]:
            line = self.refused(*words)
            self.assertRegex(line, r"option --pass[a-z-]* not recognized")
            self.assertNotIn("hunter2", line)
        self.assertIn("--multiuse not", self.refused("--multiuse"))

    def test_a_value_may_look_like_an_option(self) -> None:
        self.assertEqual("--pass", self.parse("--username", "--pass", "--gesture").username)

    def test_the_password_comes_from_elsewhere(self) -> None:
        self.assertEqual("x", self.parse(SERVICE_PASSWORD="x").password)
