"""What AIX refuses, and what of it is modelled."""

from simnet.scenario.core.tree import Path, Table, Tree


def check_aix(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a buffer that AIX refuses; say what of AIX is modelled."""
    host = tree.get(place)
    kernel = host["kernel"]
    if kernel["system"] != "aix":
        return
    most = kernel["sb_max_bytes"]
    spaces: list[tuple[Path, int]] = [
        ((*place, "kernel", name), kernel[name])
        for name in ("tcp_recvspace_bytes", "tcp_sendspace_bytes")
    ]
    spaces += [
        ((*place, "ports", number, name), port[name])
        for number, port in enumerate(host["ports"])
        for name in ("recvspace_bytes", "sendspace_bytes")
    ]
    for path, space in spaces:
        if space > most:
            raise table.error(path, "system", f"{space} B is more than sb_max, {most} B")
    remark = f"{host['name']}: of AIX only TCP is modelled; interrupts and scheduler are Linux's"
    if remark not in table.remarks:
        table.remarks.append(remark)
