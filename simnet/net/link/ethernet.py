"""Lengths of Ethernet: what of a frame on the wire no driver counts, and the shortest frame."""

import cython

UNCOUNTED_BYTES: cython.int = 24
"""Preamble, FCS and the gap between frames."""
AROUND_BYTES: cython.int = 20
"""Of these without the FCS."""
LEAST_WIRE_BYTES: cython.int = 84
"""The shortest frame, which has 64 bytes, with preamble and gap."""
