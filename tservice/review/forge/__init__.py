"""Pull requests of branches, by the user's programs C{gh} and C{glab} (protocol-pull-request)."""
