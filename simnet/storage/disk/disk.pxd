from simnet.kernel.priority cimport WIRE
from simnet.storage.disk.command cimport Command
from simnet.storage.disk.drive cimport Drive
from simnet.storage.disk.mechanism cimport Mechanism
from simnet.storage.disk.surface cimport Surface

cdef class Disk(Drive):
    cdef readonly Surface surface
    cdef readonly Mechanism mechanism
    cdef readonly object buffer
    cdef list queue
    cdef list flushes
    cdef Command active
    cdef readonly long long hits
    cdef readonly long long busy_ps
    cdef long long _begun_ps
    cdef int _begin(self, Command command) except -1
    cpdef void on_event(self, int kind, long long arg) except *
    cdef bint _held(self, Command command) except? -1
    cdef int _serve(self, Command command) except -1
    cdef int _take_write(self, Command command) except -1
    cdef int _enqueue(self, Command command) except -1
    cdef int _start(self) except -1
