"""How connections begin and end: the queues of a listening socket, who accepts, who connects."""
