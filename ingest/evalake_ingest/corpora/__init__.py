"""Corpora: read from folders, archives and wheels, identified by content, laid out for systems."""
