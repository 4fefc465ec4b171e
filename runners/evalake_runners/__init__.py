"""Systems under test, sweeps over them, and the `evalake` command line."""
