"""The lake: immutable Parquet files with declared schemas."""
