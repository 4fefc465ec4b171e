"""From a loaded benchmark to an edition in the lake: gold completed, proven, split, written."""
