"""The real daemon answers as its OpenAPI document says, whatever is asked of it.

C{python -m tests.stress.contract --seconds 900 --seed 1}.  Every phase of schemathesis: examples,
each boundary of each schema, made-up requests good and bad, and walks along the links.
"""

from __future__ import annotations

import argparse
import re
import sys

from tests.openapi.fuzzing import TameDaemon, fuzz_daemon


def run(seconds: int, seed: int) -> dict[str, object]:
    """Ask for so long; the figures.

    @raise AssertionError: a server error, a status or an answer that the document does not have.
    """
    daemon = TameDaemon()
    try:
        daemon.start()
        verdict = fuzz_daemon(daemon, seconds, f"--seed={seed}")
    finally:
        daemon.close()
    assert verdict.passed, verdict.report
    assert "fault " not in verdict.log, verdict.log
    cases = re.search(r"(\d+) generated, (\d+) passed", verdict.report)
    assert cases is not None, verdict.report
    return {"seconds": seconds, "seed": seed, "requests": int(cases[1]), "wrong": 0}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    sys.stdout.write(f"{run(words.seconds, words.seed)}\n")


if __name__ == "__main__":
    main()
