"""What a host does with its packets, as files show it."""
