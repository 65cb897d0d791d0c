"""What makes facts of text.

A module has `SIGN`, which its text holds, and `read`; and `OUTPUTS`, the output that each kind of
its facts is of, where the kind's name does not say it.
"""
