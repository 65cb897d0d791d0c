"""TCP against recorded traces and scripts of real kernels."""
