"""HTTP kernel: operations table, gate, envelope, SSE, WebSockets, OpenAPI."""
