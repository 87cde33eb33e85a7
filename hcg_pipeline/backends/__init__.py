"""Two language backends behind one protocol: `rules` (offline) and `llm` (any OpenAI-compatible endpoint)."""
