from simnet.kernel.component cimport Component
from simnet.host.cpu cimport Cpu
from simnet.kernel.sentinel cimport NONE

cdef class Endpoint
cdef class EgressPort
cdef class Skb

cdef class Station:
    cdef readonly long long mac
    cdef public EgressPort outlet

cdef class Header:
    cdef public Station source
    cdef public Station destination
    cdef readonly long long source_ip
    cdef readonly long long destination_ip
    cdef readonly int source_port
    cdef readonly int destination_port
    cdef public long long rss_hash
    cdef public long long rxhash
    cpdef Header turned(self)
    cpdef Header sent_from(self, Station source)

cdef class Endpoint(Component):
    cdef public Cpu freer
    cdef int _register_endpoint(self, object sim, str path) except -1
    cpdef long long receive(self, Skb skb, Cpu cpu) except? -1
    cpdef int fetch(self, bint data) except -1
    cpdef int wfree(self, long long length, Cpu cpu) except -1
    cpdef int queued(self, long long length) except -1
    cpdef long long tsq_handler(self, Cpu cpu) except? -1
    cpdef bint only_queues(self, Cpu cpu) except? -1

cdef class EgressPort(Component):
    cpdef int forward(self, Skb skb) except -1

cdef class Uplink(Component):
    cpdef int send(self, Skb skb) except -1

cdef class Skb:
    # what every hop looks at comes first
    cdef public Skb next
    cdef public Endpoint endpoint
    cdef public long long arrival_ps
    cdef public long long seq
    cdef public long long end_seq
    cdef public int wire_bytes
    cdef public bint push
    cdef public long long ack
    cdef public long long window
    cdef public Cpu toucher
    cdef public Endpoint owner
    cdef public Header header
    cdef public int home_node
    cdef public int writer_node
    cdef public list sack
    cdef public long long tsval
    cdef public long long tsecr
    cdef public int segment_bytes
    cdef public int msg_id
    cdef public long long held_jiffy

cdef class SkbQueue:
    cdef readonly Skb head
    cdef readonly Skb tail
    cdef readonly int count
    cpdef int append(self, Skb skb) except -1
    cpdef Skb pop(self)

cpdef Skb new_skb(Endpoint endpoint, long long seq, long long end_seq, long long ack, long long window, int wire_bytes, bint push)
cpdef Skb copy_skb(Skb skb)
