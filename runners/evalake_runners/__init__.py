"""Systems under test, and sweeps that run them over ingested datasets into the lake."""
