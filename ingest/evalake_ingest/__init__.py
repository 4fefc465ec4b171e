"""Datasets and corpora, from their original files into the lake."""
