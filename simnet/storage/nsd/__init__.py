"""The servers of a parallel file system, and the network before them."""
