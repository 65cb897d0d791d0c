cdef enum:
    WORDS = 8
    END = 0
    TAG
    SENT
    MARK
    SENT_US
    NEXT
    PREVIOUS
    SACKED = 1
    RETRANS = 2
    LOST = 4
    EVER = 8
    TAGS = 7
