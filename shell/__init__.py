"""The commands of `hcg`, one module per group; hcg.py puts them together."""
