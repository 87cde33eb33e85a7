"""Measures that a language model judges, as in GraphRAG-Bench (Xiang et al., 2026), with any endpoint as judge.

naming      `correctness[gpt-5.4-mini]`: a judged measure and its judge in one column
settings    which measures are judged for which question types
judge       one model under its own settings, behind the same chain as the LLM backend's
prompts/    what the judge is asked, text files beside the models of the replies
scoring     from verdicts on statements to numbers
checks      which statements of an answer or its reference a measure has judged, and against what
answers     `judge_answers`: ANSWERS in; scores, verdicts and what is missing out
"""
