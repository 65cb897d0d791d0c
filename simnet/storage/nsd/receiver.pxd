from simnet.host.lpar cimport LparCpu
from simnet.kernel.component cimport Component
from simnet.kernel.priority cimport CPU
from simnet.net.fluid.flow cimport Flow, Message, MessageReceiver
from simnet.net.fluid.flow_fabric cimport FlowFabric
from simnet.storage.nsd.cpu_pool cimport CpuPool

cdef class MessageReader(MessageReceiver):
    cpdef int message_read(self, Message message) except -1

cdef class ReceiverThread(Component):
    cdef FlowFabric flows
    cdef Flow flow
    cdef MessageReader reader
    cdef long long ps_kib
    cdef CpuPool pool
    cdef LparCpu lpar
    cdef Message message
    cpdef int work(self, Message message, long long size_bytes) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cpdef int go_on(self) except -1
