from simnet.kernel.sentinel cimport NONE
from simnet.net.tcp.congestion.control cimport Congestion
from simnet.net.tcp.recovery.counted cimport CountedRecovery
from simnet.net.tcp.recovery.newreno cimport NewReno
from simnet.net.tcp.recovery.recovery cimport LOSS, OPEN, RECOVERY, Recovery
from simnet.net.tcp.recovery.sack_recovery cimport SackRecovery
from simnet.net.tcp.recovery.scoreboard cimport Scoreboard
from simnet.net.tcp.rules.sender_version cimport SenderRules
from simnet.net.tcp.send.output cimport SendOutput
from simnet.net.tcp.send.rtt cimport RttEstimator
from simnet.net.tcp.send.sequence cimport SendSequence
from simnet.net.tcp.send.settings cimport SenderSettings
from simnet.net.tcp.send.timer cimport SendTimer
from simnet.net.tcp.send.validation cimport WindowValidation

cdef class TcpSender:
    cdef readonly SendSequence seq
    cdef readonly Scoreboard board
    cdef readonly SendTimer timer
    cdef readonly NewReno newreno
    cdef readonly Congestion congestion
    cdef readonly Recovery recovery
    cdef readonly SackRecovery sacks
    cdef readonly WindowValidation validation
    cdef readonly SendOutput output
    cdef readonly CountedRecovery counted
    cdef readonly long long timeouts

    cdef int init(self, SenderSettings settings, Congestion congestion) except -1
    cdef Recovery _recovery(self, SenderRules rules)
    cpdef int open_window(self, long long window) except -1
    cpdef long long packets_out(self) except? -1
    cpdef bint write_space(self) except? -1
    cpdef int update_pacing(self) except -1
    cdef int _offered(self, bint resized) except -1
    cpdef long long acknowledge(
        self, long long ack, long long window, long long now_jiffy, list blocks=*, long long echo=*,
        bint with_data=*
    ) except? -1
    cdef bint _tag(self, list blocks, long long ack, long long prior_una) except? -1
    cdef int _overtaken(
        self, list blocks, long long ack, long long now_jiffy, long long echo
    ) except -1
    cdef long long _acknowledge_with_sack(
        self, long long prior_una, long long now_jiffy, list blocks, long long echo, bint news
    ) except? -1
    cdef int _timed(self, long long acked, long long now_jiffy, long long echo) except -1
    cdef int _dubious(
        self, long long flight, long long acked, list blocks, bint sacked, bint news
    ) except -1
    cdef int _grow(self, long long flight, long long acked) except -1
    cpdef bint awaits_window(self, long long now_jiffy) except? -1
    cpdef long long timer_due(self, long long now_jiffy) except? -1
    cpdef bint timer_expired(self, long long now_jiffy) except? -1

cpdef TcpSender new_sender(SenderSettings settings)
