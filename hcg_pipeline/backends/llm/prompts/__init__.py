"""Each stage's instructions (a text file) beside the model of its reply and what is made of it.

`system.txt` opens every conversation; a stage's own text follows it. Both are the same for every call of a stage,
then come the vocabulary and, last, the passages: endpoints bill a prefix that they have seen before at a lower rate.
"""
