from simnet.host.cpu cimport Cpu
from simnet.kernel.prefetch cimport prefetch
from simnet.kernel.priority cimport CPU
from simnet.kernel.sentinel cimport NONE
from simnet.net.link.skb cimport Endpoint, Header, Skb, SkbQueue, Uplink, new_skb
from simnet.net.tcp.connection cimport COMPRESSED, DELACK, RTO, SERVED, TcpConnection
from simnet.net.tcp.receive.receiver cimport TcpReceiver
from simnet.net.tcp.receive.window cimport ReceiveWindow
from simnet.net.tcp.send.sender cimport TcpSender

cdef class TcpEndpoint

cdef class Application:
    cpdef int readable(self, TcpEndpoint socket) except -1
    cpdef int writable(self, TcpEndpoint socket) except -1
    cpdef int disconnect(self) except -1

cdef class BulkSource(Application):
    cdef readonly long long total_bytes
    cdef readonly long long written

cdef class Sink(Application):
    pass

cdef class TcpEndpoint(TcpConnection):
    cdef readonly Application application
    cdef readonly Uplink path_out
    cdef long long service_ps
    cdef long long free_ps
    cdef SkbQueue waiting
    cdef bint full
    cdef readonly long long segments_received

    cdef int init(
        self, object sim, str path, TcpSender sender, TcpReceiver receiver,
        Application application, Uplink path_out, long long jiffy_ps, int overhead_bytes,
        long long service_ps
    ) except -1
    cdef int expect(self, int kind) except -1
    cdef int fetch_to_send(self) except -1
    cdef int _fetch_answer(self) except -1
    cpdef long long write(self, long long count) except? -1
    cpdef long long read(self, long long count) except? -1
    cdef int _process(self, Skb skb) except -1
    cdef int _output(self) except -1
    cdef int _transmit(self, long long jiffy) except -1
    cdef int _send_ack(self) except -1
    cdef int _delack_timer(self, long long jiffy) except -1
    cpdef void on_event(self, int kind, long long arg) except *
