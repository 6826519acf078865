"""Agents in the panes: their activity, hooks, approvals, transcripts and limits."""
