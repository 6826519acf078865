"""The agents in the panes: what they do, tell, ask and use up."""
