"""What WordNet knows of English nouns and verbs, compact (see `build_lexicon.py` and `LICENSE.wordnet.txt`)."""
