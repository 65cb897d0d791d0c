from simnet.host.kvm.host_cpu cimport BLOCKED, RUNNING
from simnet.kernel.priority cimport CPU
from simnet.kernel.sentinel cimport NONE
from simnet.net.link.skb cimport Skb, SkbQueue
from simnet.net.virtio.backend cimport Backend, RX, TX
from simnet.net.virtio.bridge cimport BridgePort
from simnet.net.virtio.tap cimport Tap
from simnet.net.virtio.virtio_net cimport VirtioNet

cdef class VhostWorker(Backend):
    cdef readonly VirtioNet nic
    cdef Tap own
    cdef BridgePort far
    cdef long long tx_frame_ps
    cdef long long rx_frame_ps
    cdef long long buffer_ps
    cdef long long bridge_ps
    cdef long long signal_ps
    cdef long long wakeup_ps
    cdef long long copy_line_ps
    cdef long long far_line_ps
    cdef long long line_bytes
    cdef long long busy_poll_ps
    cdef int guest_node
    cdef readonly SkbQueue tap
    cdef int tap_limit
    cdef list pending
    cdef int work
    cdef int phase
    cdef bint has_polled
    cdef SkbQueue batch
    cdef SkbQueue used
    cdef int claimed
    cdef int filled
    cdef int done
    cdef int packets
    cdef long long bytes
    cdef long long timer
    cdef long long end_ps
    cdef long long left_ps
    cdef readonly long long drops
    cdef readonly long long starved
    cdef readonly long long signals
    cdef readonly long long frames_rx
    cdef readonly long long frames_tx

    cpdef int enqueue(self, Skb skb) except -1
    cdef int _queue(self, int queue) except -1
    cdef int _run(self, int phase, long long work_ps) except -1
    cdef int _begin(self) except -1
    cdef int _end(self, bint again) except -1
    cdef bint _polls_busily(self) except -1
    cdef bint _was_interrupted(self) except -1
    cdef bint _exceeds_weight(self) except -1
    cdef int _next_tx(self) except -1
    cdef int _send_batch(self) except -1
    cdef int _batch_sent(self) except -1
    cdef int _next_rx(self) except -1
    cdef int _stop_rx(self) except -1
    cdef int _signal_rx(self) except -1
    cdef long long _copied_ps(self, Skb skb, int from_node, int to_node) except -1
    cpdef void on_event(self, int kind, long long arg) except *
