"""What agents tell by hooks and status lines, and how that is set up."""
