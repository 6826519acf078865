"""Agent CLIs played by small programs: their screens, keys, timings, hooks and files.

What they imitate was seen on the real programs (FACTS.rst); the contract suite
in C{tests/agents/test_contract.py} runs on both.
"""
