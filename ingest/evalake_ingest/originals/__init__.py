"""Other people's files: downloaded, pinned, and read line by line."""
