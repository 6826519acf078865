"""Reading a workspace: its tree, its files, followed files and archives."""
