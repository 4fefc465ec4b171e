"""Bootstrap intervals, cluster intervals and sign-flip tests, the same bits on every machine.

SQL does the rest (Wilson, McNemar, Holm, BH, verdicts): see the `stat_*` macros.
"""
