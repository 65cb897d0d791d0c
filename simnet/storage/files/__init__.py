"""Files: the page cache, read-ahead and writing back."""
