"""The lake's contracts, what judges it, and questions to what was judged."""
