from simnet.host.accounting cimport HARD_LEVEL, IDLE, IRQ, PROCESS_LEVEL, SOFTIRQ, SOFT_LEVEL, STEAL, SYSTEM, USER
from simnet.host.idle cimport IdleStates
from simnet.kernel.component cimport Component
from simnet.kernel.simulator cimport Simulator

cdef class Context(Component):
    cpdef void step(self, Cpu cpu) except *

cdef class Occupation(Context):
    cpdef void step(self, Cpu cpu) except *

cdef class Softirqs(Context):
    cdef public bint pending
    cpdef void begin(self, Cpu cpu) except *

cdef class VirtualProcessor(Component):
    cpdef int work_arrived(self, Cpu cpu) except -1
    cpdef int became_idle(self, Cpu cpu) except -1
    cpdef int changed(self, Cpu cpu) except -1

cdef class Dispatcher(Component):
    cpdef void switch_in(self, Cpu cpu) except *

cdef class Cpu(Component):
    cdef readonly int cpu_id
    cdef readonly int node
    cdef readonly int socket
    cdef readonly int bus
    cdef public int core
    cdef public bint online
    cdef public Cpu sibling
    cdef public Softirqs softirqs
    cdef public Dispatcher dispatcher
    cdef public VirtualProcessor virtual
    cdef readonly bint away
    cdef readonly bint wants
    cdef int interrupted
    cdef public object current
    cdef public list runqueue
    cdef public bint need_resched
    cdef public IdleStates idle_states
    cdef bint waking
    cdef readonly int level
    cdef long long slow_permille
    cdef long long tick_ps
    cdef Context context0
    cdef Context context1
    cdef Context context2
    cdef bint set0
    cdef bint set1
    cdef bint set2
    cdef long long work0
    cdef long long work1
    cdef long long work2
    cdef int mode0
    cdef int mode1
    cdef int mode
    cdef bint running
    cdef bint stepping
    cdef long long stretch_permille
    cdef long long alone_permille
    cdef long long full_slow_permille
    cdef readonly long long given_ps
    cdef bint irq_exit
    cdef list irq_contexts
    cdef list irq_works
    cdef int irqs_waiting
    cdef long long end_ps
    cdef long long system_left_ps
    cdef long long system_from_ps
    cdef long long timer
    cdef long long timer_ps
    cdef long long since_ps
    cdef long long next_tick_ps
    cdef long long idle_ps
    cdef long long user_ps
    cdef long long system_ps
    cdef long long softirq_ps
    cdef long long irq_ps
    cdef long long steal_ps
    cdef public long long purr_ps
    cdef long long idle_ticks
    cdef long long user_ticks
    cdef long long system_ticks
    cdef long long softirq_ticks
    cdef long long irq_ticks
    cdef readonly long long hard_interrupts

    cpdef int run(self, int level, Context context, long long work_ps, int mode) except -1
    cpdef int run_to_user(self, Context context, long long system_ps, long long user_ps) except -1
    cpdef int raise_irq(self, Context context, long long work_ps) except -1
    cpdef int set_pace(self, long long permille) except -1
    cpdef int kick(self) except -1
    cpdef int leave(self) except -1
    cpdef int arrive(self) except -1
    cdef int _want(self) except -1
    cdef int _count_ticks(self, long long ticks) except -1
    cdef int _dispatch(self) except -1
    cdef int _start(self, int level, long long work_ps, int mode) except -1
    cdef int _place_event(self) except -1
    cdef int _suspend(self) except -1
    cdef int _set_level(self, int level) except -1
    cdef int _sibling_changed(self) except -1
    cdef int _settle(self) except -1
    cdef int _account(self) except -1
    cpdef long long tick_after(self, long long now) except? -1
    cpdef void on_event(self, int kind, long long arg) except *
