from simnet.kernel.component cimport Component
from simnet.kernel.sentinel cimport NEVER

cdef class Message
cdef class Flow

cdef class MessageReceiver(Component):
    cpdef int message_arrived(self, Message message) except -1
    cpdef int message_sent(self, Message message) except -1

cdef class Message:
    cdef readonly long long size_bytes
    cdef readonly MessageReceiver receiver
    cdef readonly int kind
    cdef readonly object tag
    cdef public Message next

cdef class FlowLink:
    cdef readonly str name
    cdef readonly long long bytes_s
    cdef readonly long long capacity
    cdef public long long bytes
    cdef readonly long long busy_ps
    cdef readonly long long saturated_ps
    cdef public int active
    cdef public bint up
    cdef readonly bint saturated
    cdef long long left
    cdef int open
    cdef long long changed_ps
    cdef long long waiting_bytes
    cdef long long slowest
    cpdef int account(self, long long now) except -1
    cdef int join(self, long long now) except -1
    cdef int leave(self, long long now) except -1
    cdef int saturate(self, bint saturated, long long now) except -1

cdef class FinishTimes:
    cdef int count
    cdef long long[::1] times
    cdef long long earliest(self) except? -1

cdef class Flow:
    cdef FinishTimes finish
    cdef readonly int index
    cdef readonly int group
    cdef readonly int place
    cdef public list links
    cdef public int egress
    cdef readonly long long limit
    cdef long long ceiling
    cdef readonly long long window_bytes
    cdef readonly long long round_trip_ps
    cdef public long long latency_ps
    cdef public long long rate
    cdef long long share
    cdef bint at_egress
    cdef public bint active
    cdef bint open
    cdef bint full
    cdef public long long remaining
    cdef public long long updated_ps
    cdef public bint stalled
    cdef public long long stalls
    cdef public long long timer_ps
    cdef public bint threaded
    cdef public bint reading
    cdef public int arrived
    cdef public long long credit
    cdef public bint shut
    cdef public Message head
    cdef public Message tail
    cdef public Message coming
    cdef public Message last_coming
    cdef public long long messages
    cdef public long long bytes
    cdef public long long retransmitted_bytes
    cpdef int advance(self, long long now) except -1
    cpdef bint closes(self) except -1
    cpdef int predict(self) except -1
    cdef int stop(self) except -1

cpdef Message new_message(long long size_bytes, MessageReceiver receiver, int kind, object tag)
