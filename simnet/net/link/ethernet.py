"""What of a frame on the wire no driver counts: preamble, FCS and the gap between frames."""

import cython

UNCOUNTED_BYTES: cython.int = 24
