"""Where the service listens, and where its own requests may go."""
