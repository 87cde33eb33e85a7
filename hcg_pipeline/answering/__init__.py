"""Question files in, answers out."""
