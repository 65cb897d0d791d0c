cpdef enum:
    POLL_CONTINUES = 0
    POLL_DONE = 1
    POLL_MORE = 2
    POLL_STAYS = 3
