"""Jobs on a parallel file system."""
