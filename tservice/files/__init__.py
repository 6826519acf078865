"""Files of sessions' workspaces: looked at, changed, followed, carried in and out."""
