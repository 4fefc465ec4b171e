"""The sweep engine: plans cells, indexes each corpus once, asks the systems, writes the lake."""
