"""Web Push: messages to browsers whose page is closed, when a session needs its user."""
