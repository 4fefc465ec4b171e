"""The sweep engine: plans cells, indexes corpora once, asks systems in workers, records."""
