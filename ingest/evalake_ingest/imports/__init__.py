"""Bring your own: qrels, tasks and rankings made elsewhere, in the lake like any other."""
