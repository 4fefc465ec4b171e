"""The `evalake` command: one module per noun or verb, each with cheap imports only."""
