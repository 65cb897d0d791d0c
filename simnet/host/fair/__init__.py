"""The fair scheduler of Linux since 2.6.23: CFS, and since 6.6 EEVDF."""
