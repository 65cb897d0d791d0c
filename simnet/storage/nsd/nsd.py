"""What a client of a parallel file system asks of its servers: to read or write a range of a block.

A network shared disk (NSD) is served by the node that its disks hang on; a client reads and writes
it block by block over TCP. `NsdCluster.submit` takes a request; the owner's `request_done` is
called at the time at which the data of a read, or the acknowledgement of a write, are at the
client.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component


@cython.cclass
class NsdClient(Component):
    """Who sends requests, a component; a subclass says what follows from an answer."""

    def request_done(self, request: NsdRequest) -> cython.int:
        """A request is answered; it is the client's again, and may be sent anew."""
        raise NotImplementedError(self.path)


@cython.final
@cython.freelist(4096)
@cython.cclass
class NsdRequest:
    """A read or write of a range of one block of one file; made by `new_request`."""

    client: Public[cython.int] = 0  # number of the node that asks, from 0
    file: Public[cython.longlong] = 0  # number of the file, from 0 to 2**38 - 1
    block: Public[cython.longlong] = 0  # number of the block in the file, from 0 to 2**24 - 1
    # the range within the block
    offset_bytes: Public[cython.longlong] = 0
    size_bytes: Public[cython.longlong] = 0
    write: Public[cython.bint] = False  # False for a read
    owner: Public[NsdClient] = None  # hears when it is done
    tag: Public[Any] = None  # the owner's alone
    # when it was sent and answered; set by the cluster
    submitted_ps: Public[cython.longlong] = 0
    done_ps: Public[cython.longlong] = 0
    server: Public[cython.int] = 0  # number of the server that has the block; set by the cluster
    # which vdisk of the server, and where on it; set by the cluster
    nsd: Public[cython.int] = 0
    track: Public[cython.longlong] = 0
    # number of the block among all blocks of all files; set by the cluster
    key: Public[cython.longlong] = 0
    # where the cluster keeps what it knows of it; set by the cluster
    slot: Public[cython.longlong] = 0

    def __repr__(self) -> str:
        """Show kind and range."""
        kind = "write" if self.write else "read"
        place = f"file {self.file} block {self.block} at {self.offset_bytes}+{self.size_bytes}"
        return f"<{kind} {place} from client {self.client}>"


def new_request(
    client: cython.int,
    file: cython.longlong,
    block: cython.longlong,
    offset_bytes: cython.longlong,
    size_bytes: cython.longlong,
    write: cython.bint,
    owner: NsdClient,
    tag: Any,
) -> NsdRequest:
    """Make a request; the arguments are its attributes."""
    request: NsdRequest = NsdRequest.__new__(NsdRequest)
    request.client = client
    request.file = file
    request.block = block
    request.offset_bytes = offset_bytes
    request.size_bytes = size_bytes
    request.write = write
    request.owner = owner
    request.tag = tag
    request.submitted_ps = 0
    request.done_ps = 0
    request.server = 0
    request.nsd = 0
    request.track = 0
    request.key = 0
    request.slot = 0
    return request
