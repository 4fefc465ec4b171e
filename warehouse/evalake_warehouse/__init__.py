"""Lake contracts, the warehouse build, SQL access, charts and the report."""
