"""What a judge is asked: `system.txt` opens every conversation, the text of one task follows.

`statements` breaks a text into statements; `correctness`, `coverage` and `faithfulness` ask for a verdict on each.
"""
