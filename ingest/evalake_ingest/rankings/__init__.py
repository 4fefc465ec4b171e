"""Answers that were made elsewhere, written as a finished run."""
