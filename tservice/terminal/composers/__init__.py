"""The composer (input field) of an agent, and the draft in it."""
