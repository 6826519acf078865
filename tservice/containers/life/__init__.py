"""Follow the events of containers, and report them to the sessions inside."""
