"""An environment that is handed past what is still root, with a real shell."""

from __future__ import annotations

import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.process.environment_handover import make_restoring_command, rename_variables

ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nowhere",
    "IFS": "x",
    "QUOTED": "a 'b' \"c\" $HOME `id` \\\n end",
    "EMPTY": "",
}


class HandoverTests(SynchronousTestCase):
    def test_environment_is_handed_over_unchanged(self) -> None:
        show = [sys.executable, "-c", "import os; print(repr(dict(os.environ)))"]
        odd = {**ENV, "A-B": "no name of a shell's", "UID": "0"}
        argv, env = make_restoring_command(odd, [*show, "x y"]), rename_variables(odd)
        self.assertTrue(all(name.startswith("TSERVICE_GIVEN_") for name in env))
        values = [value for name, value in ENV.items() if name not in ("IFS", "EMPTY")]
        self.assertFalse([value for value in values if value in " ".join(argv)])
        found = subprocess.run(argv, env=env, capture_output=True, text=True, check=True).stdout
        seen = eval(found)
        for name in ("PWD", "OLDPWD", "_", "SHLVL", "LC_CTYPE"):
            seen.pop(name, None)
        self.assertEqual(ENV, seen)
