"""A local page with sliders for the knobs of a scenario, recomputed while one drags.

`controls` says which knobs there are, `answers` computes what they do, `serve` shows both.
"""
