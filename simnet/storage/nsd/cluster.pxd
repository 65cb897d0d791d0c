from simnet.net.fluid.flow cimport Flow, Message, new_message
from simnet.net.fluid.flow_fabric cimport FlowFabric
from simnet.storage.nsd.nsd cimport NsdRequest
from simnet.storage.nsd.receiver cimport ReceiverThread
from simnet.storage.nsd.server cimport Frontend, NsdServer
from simnet.storage.raid.track cimport mix

cdef class NsdCluster(Frontend):
    cdef readonly object model
    cdef readonly object fabric
    cdef FlowFabric flows
    cdef list to_servers
    cdef list to_clients
    cdef bint balanced
    cdef long long rebalance_ps
    cdef long long rebalanced_ps
    cdef readonly list servers
    cdef long long count
    cdef long long nsds
    cdef readonly long long tracks
    cdef bint scatter
    cdef long long block_bytes
    cdef int clients
    cdef long long message_bytes
    cdef long long inline_bytes
    cdef readonly list server_threads
    cdef readonly list client_threads
    cdef readonly list rebuilds
    cdef readonly long long reads
    cdef readonly long long writes
    cdef readonly long long read_bytes
    cdef readonly long long written_bytes
    cdef readonly long long under_way
    cpdef int submit(self, NsdRequest request) except -1
    cdef int _place(self, NsdRequest request) except -1
    cdef Flow _to_client(self, NsdRequest request)
    cpdef int fetch(self, NsdRequest request) except -1
    cpdef int answer(self, NsdRequest request) except -1
    cpdef int message_arrived(self, Message message) except -1
    cpdef int message_read(self, Message message) except -1
    cpdef int message_sent(self, Message message) except -1
    cdef int _take(self, Message message) except -1
