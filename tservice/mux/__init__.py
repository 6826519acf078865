"""Terminal multiplexer: runs each session in a pane with a separate tmux server and control
client.
"""
