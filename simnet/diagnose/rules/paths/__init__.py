"""What is between this host and its peers: losses, sizes, queues."""
