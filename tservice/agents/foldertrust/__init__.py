"""Trust in working folders whose files can make an agent run something (protocol-trust)."""
