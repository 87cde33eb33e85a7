"""The engine: from documents to a typed causal graph, and from questions to evidence and answers.

Pure Python and Arrow in, Arrow out. Nothing here imports Dagster, reads the environment, or holds a global client.
"""
