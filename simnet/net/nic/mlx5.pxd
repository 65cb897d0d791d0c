from simnet.net.nic.channel cimport Channel
from simnet.net.nic.dim cimport Dim

cdef class Mlx5(Channel):
    cdef readonly Dim rx_dim
    cdef readonly Dim tx_dim
    cdef long long command_ps
