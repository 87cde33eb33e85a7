"""Documents in, chunks and extraction windows out."""
