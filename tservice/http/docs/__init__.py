"""OpenAPI document, and a documentation page that is generated from it."""
