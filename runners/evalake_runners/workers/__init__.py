"""Processes that a system's code runs in: how they start, what is sent, and what is believed."""
