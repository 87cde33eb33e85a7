"""The LLM backend: any OpenAI-compatible endpoint behind the `LanguageBackend` protocol.

A call goes through five layers, always in this order, outermost first. Each is one module and one class that satisfies
`chat.ChatCall` and wraps the next:

    cache    CachedChat     a request that was answered before costs nothing, today or after a crash
    budget   BudgetedChat   calls, tokens and USD that a build may spend; only what the cache lacks counts
    limiter  LimitedChat    requests in flight and requests and tokens a minute, for all workers of the process
    retry    RetryingChat   waits out 429, 5xx, resets and timeouts, honouring Retry-After
    http     HttpChat       one POST to /chat/completions through the `openai` SDK

Beside the chain, none of them a layer: `ledger` notes every call with what came of it, as `asking` reports it;
`batches` fills the cache through the Batch API before a stage asks; `transcript` keeps prompts and replies if told to.

Above the chain, `asking` sends one `prompt` and has the reply put right once if `validating` finds it wrong (then it is
a failure that keeps the raw text), `dividing` halves windows that are too long for the model, `mapping` works on many
items at once, and `backend` turns windows and questions into prompts and replies into proposals. `prompts/` holds each
stage's instructions as a text file beside the model of its reply, and `reply_language` looks whether it is in the
language of the passages. `assembling.build_llm_backend` puts it all together from `settings.EndpointSettings`.
"""
