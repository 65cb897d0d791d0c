"""What of a frame on the wire no driver counts: preamble, FCS and the gap between frames.

Compiled modules take the constant from `ethernet.pxd`.
"""

import cython

if not cython.compiled:
    UNCOUNTED_BYTES = 24
