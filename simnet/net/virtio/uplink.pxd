from simnet.host.costs cimport Costs
from simnet.host.cpu cimport Cpu
from simnet.net.link.skb cimport Skb, copy_skb
from simnet.net.nic.port cimport Nic
from simnet.net.steering.steering cimport Steering
from simnet.net.virtio.bridge cimport BridgePort, hash_of

cdef class Uplink(BridgePort):
    cdef list queues
    cdef Nic _queue(self, Skb skb)

cdef class FromUplink(Steering):
    cdef BridgePort tap
    cdef Costs costs
    cdef long long bridge_ps
