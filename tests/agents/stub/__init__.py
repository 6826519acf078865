"""A model server on loopback that does what the prompt says, for agents under test."""
