"""Tests of L{tservice.agents} with played agents on the real tmux."""
