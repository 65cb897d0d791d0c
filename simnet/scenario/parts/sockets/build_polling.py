"""Whether processes poll a port while they wait for a socket (`net.core.busy_read`, `busy_poll`).

Source: net/core/dev.c (`sk_busy_loop`) and fs/eventpoll.c (`ep_busy_loop`) of Linux 4.10 and 4.12.
Before 4.5 a driver needed a function of its own for it (`ndo_busy_poll`), which is not modelled.
"""

from typing import Final

from simnet.host.release import release
from simnet.scenario.core.effective import Host, Port
from simnet.scenario.parts.nic.schema import Polled

_ANY_DRIVER: Final = (4, 5)
_EPOLL: Final = (4, 12)


def why_not(host: Host, port: Port) -> str:
    """Say why no process polls a port busily; empty where one may."""
    version = host.kernel.version
    if host.kernel.system != "linux" or release(version) < _ANY_DRIVER:
        return f"busy polling is modelled from Linux 4.5 on, this is {version}"
    if not isinstance(port.nic, Polled):
        return f"processes that poll a port of {port.nic.driver} are not modelled"
    return ""


def busy_read_usecs(host: Host, port: Port) -> int:
    """How long a read polls a port before it sleeps; 0: not at all."""
    return 0 if why_not(host, port) else int(host.kernel.busy_read_usecs)


def busy_poll_usecs(host: Host, port: Port) -> int:
    """How long epoll_wait does, if its program has set nothing itself; 0: not at all."""
    if why_not(host, port) or release(host.kernel.version) < _EPOLL:
        return 0
    return int(host.kernel.busy_poll_usecs)
