"""The client side of a parallel file system: pagepool and tokens."""
