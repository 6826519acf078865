"""What a person may want to say next: goals, past prompts, suggestions (protocol-intent)."""
