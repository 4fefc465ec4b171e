"""Any tool as a system under test, from its configuration alone: MCP, a command, or HTTP."""
