"""Where the processes of streams may run, and from which node their memory comes first."""

from typing import Any

from simnet.scenario.core.entries import is_peer
from simnet.scenario.core.knob import Knob
from simnet.scenario.core.settings import Settings
from simnet.scenario.core.subject import Steps
from simnet.scenario.core.tree import Entry


class Bindings(Steps):
    """Bindings as set: a node, ``"nic"`` or ``"any"``; CPUs, empty for all. Flows take them."""

    scopes = ("flows",)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        free = {"cpubind_node": "any", "preferred_node": "any", "cpus": (), "peer_cpus": ()}
        settings.kept["bindings"] = free

    def turn(self, entry: Entry, knob: Knob, value: Any) -> Any:
        """Bind all processes of the system, or of the peers; return how they were bound."""
        target = f"peer_{knob.target}" if is_peer(entry) else knob.target
        if knob.target == "cpus":
            host = ("peers", 0) if is_peer(entry) else ("host",)
            self.settings.places.check_cpus(entry, value, host)
        else:
            self._check_node(entry, value)
        bindings = self.settings.kept["bindings"]
        before, bindings[target] = bindings[target], value
        return None if before == () else before

    def _check_node(self, entry: Entry, node: Any) -> None:
        host = self.settings.tree.get(("host",))
        nodes = host["machine"]["nodes"]
        if isinstance(node, int) and node >= nodes:
            message = f"NUMA node {node} does not exist: {host['name']} has nodes 0 to {nodes - 1}"
            raise entry.error(message)
