"""The offline backend: terms, types and causal cues by rule; deterministic, no network."""
