"""What every other part may use: errors, configuration, events, time."""
