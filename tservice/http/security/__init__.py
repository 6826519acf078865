"""Rules that protect the browser: Host, Origin, paths, response headers and the page's key."""
