"""Where a host's files lie: in a folder, in an archive, on this machine."""
