"""Texts in, vectors out."""
