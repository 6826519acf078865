"""Observation of the programs in the panes of this machine (protocol-session)."""
