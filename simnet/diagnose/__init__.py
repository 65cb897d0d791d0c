"""Where packets or time are lost, by the evidence in what people paste.

Readers make facts of text, rules make findings of facts, and a verdict orders them. Both announce
themselves: a module of `readers` or `rules` is found by being there.
"""
