"""Git in containers and on remote hosts, by shell text that is run there."""
