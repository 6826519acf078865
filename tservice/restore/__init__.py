"""Restoration of sessions after a reboot of the machine (protocol-restore)."""
