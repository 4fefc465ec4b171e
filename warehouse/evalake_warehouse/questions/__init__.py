"""Questions to a built warehouse: runs, comparisons, gates, cautions, SQL."""
