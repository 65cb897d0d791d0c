"""Host mechanisms: CPUs, memory, interrupts, softirq, scheduler."""
