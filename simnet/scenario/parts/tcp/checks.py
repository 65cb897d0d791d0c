"""What Linux's TCP refuses."""

from typing import Final

from simnet.net.tcp.rules.sender_version import congestion_controls, sender_rules
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.host.checks import check_timer
from simnet.scenario.parts.tcp.kernel import TcpKernel
from simnet.time_units import PS_PER_S

_BELOW_TCP: Final = (
    "tcp_limit_output_bytes",
    "tcp_autocorking",
    "tcp_min_tso_segs",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
)


def check_tcp(tree: Tree, place: Path, table: Table) -> None:
    """Refuse an algorithm that the kernel lacks, a delayed ACK that its clock cannot time."""
    kernel = tree.get((*place, "kernel"))
    if kernel["system"] != "linux":
        return
    offered = congestion_controls(kernel["version"])
    chosen = kernel["tcp_congestion_control"]
    if chosen not in offered:
        message = f"{chosen} is not in Linux {kernel['version']}: expected {', '.join(offered)}"
        raise table.error((*place, "kernel", "tcp_congestion_control"), "system", message)
    ends = place != ("host",) and tree.get(("workload", "peers_simulated")) == "ends"
    if chosen == "bbr" and ends:
        message = "of a peer it needs peers_simulated to be machines or auto"
        raise table.error((*place, "kernel", "tcp_congestion_control"), "system", message)
    if chosen == "bbr" and not kernel["tcp_sack"]:
        message = "bbr without net.ipv4.tcp_sack is not modelled: expected it to be on"
        raise table.error((*place, "kernel", "tcp_congestion_control"), "system", message)
    if kernel["tcp_ecn"] == 1 and not sender_rules(kernel["version"]).rack:
        message = f"of Linux {kernel['version']} it is not modelled: expected 4.18 or later"
        raise table.error((*place, "kernel", "tcp_ecn"), "system", message)
    if not sender_rules(kernel["version"]).limit_output_bytes:
        for field in _BELOW_TCP:
            if kernel[field] != TcpKernel.model_fields[field].default:
                message = f"of Linux {kernel['version']} it is not modelled: expected 5.0 or later"
                raise table.error((*place, "kernel", field), "system", message)
    for attribute in ("delack_min_ps", "ato_min_ps"):
        check_timer(tree, (*place, "kernel"), attribute, table)
    jiffy_ps = PS_PER_S // kernel["hz"]
    # do_tcp_setsockopt: TCP_TIMEOUT_MIN, after rounding up
    option_ps = tree.get((*place, "application", "delack_max_ps"))
    if 0 < option_ps <= jiffy_ps:
        message = f"EINVAL at HZ {kernel['hz']}: expected more than a jiffy, or 0 for not set"
        raise table.error((*place, "application", "delack_max_ps"), "system", message)
