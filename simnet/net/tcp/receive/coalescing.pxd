from simnet.net.link.skb cimport Skb

cdef bint joins(Skb tail, Skb skb) except -1
cdef long long _fragments(Skb skb) except -1
