"""The environment variables that choose endpoints."""

ENDPOINTS = (
    "OPENAI_API_KEY",
    "HCG_LLM_BASE_URL",
    "HCG_LLM_MODEL",
    "HCG_JUDGE_MODEL",
    "HCG_JUDGE_BASE_URL",
    "HCG_JUDGE_API_KEY",
    "HCG_EMBEDDER",
    "HCG_EMBEDDING_BASE_URL",
    "HCG_EMBEDDING_MODEL",
    "DAGSTER_HOME",
)
