"""What a scenario file consists of, before models are looked up and knobs applied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import core_schema

from simnet.scenario.core.parameter import Scalar, State
from simnet.scenario.core.schema import FileTable, file_model
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import ANY, Choice, Flag, count, ratio, size, time
from simnet.scenario.core.subject import exchanges, host_parts, parts, setups

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

STREAM_TYPES: Final = tuple(one for exchange in exchanges() for one in exchange.types)
"""Workloads of streams and requests between ports of the host and those of its peers."""
REQUEST_TESTS: Final = tuple(test for one in exchanges() if one.asks for test in one.tests)
"""Tests of requests and responses between them."""
LOADS: Final[Mapping[str, str]] = {
    **{test: exchange.load for exchange in exchanges() for test in exchange.tests},
    **{test: setup.load for setup in setups() for test in setup.tests},
}
"""What kind of load each test is, see `Setup.load`."""


class Workload(Section):
    """What runs on the system."""

    type: Annotated[
        str,
        Choice("workload", (*STREAM_TYPES, *(one for setup in setups() for one in setup.types))),
    ]
    test: Annotated[
        str,
        Choice(
            "what runs on the system: " + "".join(one.doc for one in (*exchanges(), *setups())),
            tuple(LOADS),
        ),
    ]
    nodes: Annotated[int, count("nodes whose ports carry traffic", 1, 64)]
    message_bytes: Annotated[int, size("bytes per send(); of a message", "1 B", "16 MiB")] = 1
    recv_size_bytes: Annotated[
        int, size("bytes asked for per recv(); 0: the receive buffer's size", "0 B", "16 MiB")
    ] = 0
    request_bytes: Annotated[int, size("of a request of tcp_rr", "1 B", "16 MiB")] = 1
    response_bytes: Annotated[int, size("of a response of tcp_rr", "1 B", "16 MiB")] = 1
    writes_bytes: Annotated[
        tuple[int, ...],
        size("sends that a request of tcp_rr is made of; none: one", "1 B", "16 MiB", ANY),
    ] = ()
    answers: Annotated[
        bool, Flag("requests of tcp_rr come from the peers, and the system answers them")
    ] = False
    service_ps: Annotated[
        int, time("application's time for a request of tcp_rr", "0 ns", "100 ms")
    ] = 0
    think_ps: Annotated[
        int,
        time("mean time from a response of tcp_rr to the next request; 0: none", "0 ns", "100 s"),
    ] = 0
    connections: Annotated[
        int, count("streams of each test at each port, as iperf -P has it", 1, 1024)
    ] = 1
    short_flows: Annotated[
        int, count("flows of requests and responses beside the streams of each port", 0, 1024)
    ] = 0
    reporter: Annotated[
        bool, Flag("iperf 2.0.2: a second thread looks for something to report at each tick")
    ] = False
    length_permille: Annotated[
        int, ratio("share of each job of sas that is simulated", "0.01", "1")
    ] = 1000
    failed_disks: Annotated[
        int, count("disks of a file system's servers that have failed, one a server", 0, 8)
    ] = 0
    peers_simulated: Annotated[
        str,
        Choice(
            "how: as ends of streams (TCP, NIC, one CPU each), as whole machines, or auto: as"
            " machines if they receive, since how evenly they acknowledge matters",
            ("auto", "ends", "machines"),
        ),
    ] = "auto"
    assumed: Annotated[
        bool, Flag("nothing tells what the system really carries: this stands for it")
    ] = False


class Run(Section):
    """How long to simulate.

    With a precision the run ends as soon as throughput and CPU time are known that well; it finds
    the end of its warm-up by itself, and `duration_ps` is the most, warm-up included.
    """

    warm_up_ps: Annotated[int, time("simulated time before measuring", "0 s", "1000 s")]
    duration_ps: Annotated[int, time("simulated time that is measured", "1 us", "100000 s")]
    seed: Annotated[int, count("seed of all random numbers", 0, 2**63 - 1)] = 1
    precision_permille: Annotated[
        int,
        ratio(
            "half width of 95 % intervals, relative, that ends the run; 0: none does", "0", "0.5"
        ),
    ] = 0


# hosts stand among the parts here
_HOST_ORDER: Final = 35

if TYPE_CHECKING:
    WorkloadTable: TypeAlias = BaseModel
    RunTable: TypeAlias = BaseModel
else:
    WorkloadTable = file_model(Workload, bare=True)
    RunTable = file_model(Run, bare=True)


def _with_parts(name: str, base: type[BaseModel], *, named: bool, last: bool = False) -> Any:
    """Return a table with the keys that subjects announce, after those of another.

    Args:
        name: of the table.
        base: the other.
        named: keys of ``[system]`` that name models; otherwise tables of the scenario.
        last: those that stand after what hosts consist of.
    """
    fields: dict[str, Any] = {}
    for part in parts():
        if not part.key or part.named_by or bool(part.kind) != named:
            continue
        if named and (part.order > _HOST_ORDER) != last:
            continue
        own: Any = part.form()
        if own:
            fields[part.key] = (own, Field(default_factory=own))
            continue
        form: Any = str if named else file_model(part.section, bare=True)
        default: Any = "" if named else () if part.several else None
        shape = form if named else tuple[form, ...] if part.several else form | None
        fields[part.key] = (Annotated[shape, Field(description=part.doc)], default)
    return create_model(name, __base__=base, **fields)


def _with_host_parts(name: str, base: type[BaseModel]) -> Any:
    """Return a table of a host with the keys that subjects announce, after those of another."""
    fields: dict[str, Any] = {}
    for part in host_parts():
        if part.item:
            form: Any = part.form()
            fields[part.key] = (tuple[form, ...], ())
        elif part.key:
            form = file_model(part.section, bare=True)
            fields[part.key] = (Annotated[form | None, Field(description=part.doc)], None)
    return create_model(name, __base__=base, **fields)


class _Peer(FileTable):
    server: Annotated[str, Field(description="server model")]
    kernel: Annotated[str, Field(description="kernel model")]
    count: Annotated[int, Field(ge=1, le=64, description="how many")] = 1
    cabled: Annotated[
        int | None, Field(ge=1, le=64, description="how many of its ports are used; all if absent")
    ] = None
    slaves: Annotated[
        tuple[str, ...], Field(description='ports that are one bond, as in ["eth0", "eth1"]')
    ] = ()


if TYPE_CHECKING:
    _PeerHost = _Peer
else:
    _PeerHost = _with_host_parts("_PeerHost", _Peer)


class PeerTable(_PeerHost):
    """Machines of one kind at the other end of the cables."""


class _System(FileTable):
    server: Annotated[str, Field(description="server model")]
    kernel: Annotated[str, Field(description="kernel model")]


if TYPE_CHECKING:
    _Clients = _System
else:
    _Beside = _with_parts("_Beside", _System, named=True)
    _Clients = _with_parts(
        "_Clients", _with_host_parts("_HostSystem", _Beside), named=True, last=True
    )


class SystemTable(_Clients):
    """The system under test and what it is cabled to.

    Port k of the server is cabled to port k of the peers, counted through, unless `cables` says
    otherwise.
    """

    peers: Annotated[tuple[PeerTable, ...], Field(description="the other ends")] = ()
    cables: Annotated[
        tuple[tuple[int, int], ...],
        Field(description="for each port of the server, the number of a peer and of its port"),
    ] = ()


class Setting(FileTable):
    """A knob's value; a table with source and state where a bare value does not say enough."""

    value: Scalar
    source: str
    state: State = "chosen"


def _widen(raw: Any) -> Any:
    return raw if isinstance(raw, dict) else {"value": raw, "source": ""}


class _BareSetting:
    """Accepts a bare value where a :class:`Setting` stands."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(_widen, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        bare = {"type": ["string", "number", "boolean"]}
        return {"anyOf": [bare, handler(schema)]}


class TuningTable(FileTable):
    """A named tuning: knobs that are turned together."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Annotated[Setting, _BareSetting()]]

    description: Annotated[str, Field(min_length=1, description="what it does, one line")]

    @property
    def settings(self) -> dict[str, Setting]:
        """The knobs by name, in the order of the file."""
        return self.__pydantic_extra__


class _Scenario(FileTable):
    kind: Literal["scenario"]
    description: Annotated[str, Field(min_length=1, description="what this is, one line")]
    name: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
            description="what results call it, and its host; the name of the file by default",
        ),
    ] = ""
    document: Annotated[str, Field(description="the document it comes from")] = ""
    system: SystemTable
    workload: WorkloadTable


if TYPE_CHECKING:

    class _Tables(_Scenario):
        def __getattr__(self, part: str) -> Any: ...

else:
    _Tables = _with_parts("_Tables", _Scenario, named=False)


class ScenarioFile(_Tables):
    """A scenario: models, workload, tuning."""

    tuning: Annotated[
        dict[str, Annotated[Setting, _BareSetting()]],
        Field(description="knobs by the names that an administrator types"),
    ] = Field(default={})
    tunings: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")], TuningTable],
        Field(description="tunings that are tried on demand, by name: a description and knobs"),
    ] = Field(default={})
    unexplained: Annotated[
        dict[str, str],
        Field(
            description="what the host's files show and a load may not do, such as packets lost in"
            " bursts, by the knob that would help: a knob that a run makes no use of may help there"
        ),
    ] = Field(default={})
    run: RunTable
