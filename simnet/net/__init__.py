"""Network mechanisms: frames, links, switches, NICs, NAPI drivers, TCP."""
