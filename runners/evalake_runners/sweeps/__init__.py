"""What a sweep declares: its files, the systems they configure, and each arm's identity."""
