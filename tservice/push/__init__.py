"""Web Push: word to a browser whose page is closed that a session needs its person."""
