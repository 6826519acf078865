"""Web Push: messages to browsers with closed pages when a session needs its user."""
