"""The LLM backend: prompts, reply models and the client for any OpenAI-compatible endpoint."""
