"""Systems under test, behind one small protocol."""
