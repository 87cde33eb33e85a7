"""What WordNet knows of English nouns and verbs, in a compact form (see `build_lexicon.py` and `LICENSE.wordnet.txt`)."""
