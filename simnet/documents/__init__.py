"""The documents whose systems were measured; each package here announces one `DOCUMENT`.

They are found by name, see `simnet.study.validate.document`: no module below imports one.
"""
