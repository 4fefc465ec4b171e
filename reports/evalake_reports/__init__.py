"""Charts, reports and rendered pages, all drawn from the marts."""
