"""Record what the real CLIs show: scenes that drive them, and a recorder that keeps screens."""
