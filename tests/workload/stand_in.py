"""A stand-in for the servers of a file system: a fixed latency behind one rate for all."""

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.storage.nsd.nsd import NsdRequest

PS = 10**12


class StandIn(Component):
    """Answers each request when its bytes have passed at `rate_bytes_s`, and a latency later."""

    def __init__(self, sim: Simulator, *, latency_ps: int, rate_bytes_s: int) -> None:
        super().__init__(sim, "servers")
        self.latency_ps = latency_ps
        self.rate_bytes_s = rate_bytes_s
        self.asked: list[tuple[int, int, int, bool]] = []
        self.read_bytes = self.written_bytes = 0
        self._free_ps = 0
        self._waiting: dict[int, NsdRequest] = {}

    def submit(self, request: NsdRequest) -> None:
        request.submitted_ps = self.sim.now
        self.asked.append((request.file, request.block, request.size_bytes, bool(request.write)))
        self._free_ps = max(self._free_ps, self.sim.now)
        self._free_ps += request.size_bytes * PS // self.rate_bytes_s
        number = len(self.asked)
        self._waiting[number] = request
        self.sim.at(self._free_ps + self.latency_ps, self, 0, number, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        request = self._waiting.pop(arg)
        request.done_ps = self.sim.now
        if request.write:
            self.written_bytes += request.size_bytes
        else:
            self.read_bytes += request.size_bytes
        request.owner.request_done(request)
