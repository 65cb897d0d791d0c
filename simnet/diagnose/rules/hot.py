"""Functions of the kernel that take CPU time, as perf shows them."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.families import Act, Find
from simnet.diagnose.routers import by_flow_table
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_NEEDS: Final = "perf top, perf report"
_MOST_NAMED: Final = 3
IOMMU_WORK: Final = (
    r".*iommu_(map|unmap|dma|flush|iotlb|completion_wait).*|(__)?(alloc|free|find|queue)_iova.*"
    r"|__domain_(mapping|flush_pages)|qi_submit_sync|dma_pte_clear.*|arm_smmu_.*|iommu_v1_.*"
    r"|fq_flush_.*|iova_.*"
)
"""Functions that map transfers and make the IOMMU forget them."""


def _hot(names: str, least: float, act: Act | None = None) -> Find:
    """Look for functions that together take a share of CPU time, in percent; `act`: what helps."""

    def find(evidence: Evidence) -> Iterator[Found]:
        newest = {fact.name: fact for fact in evidence.of("hot", names)}
        facts = sorted(newest.values(), key=lambda fact: -fact.value)
        whole = sum(fact.value for fact in facts)
        if not facts:
            return
        said = ", ".join(f"{fact.name} {fact.text}" for fact in facts[:_MOST_NAMED])
        if whole < least:
            yield Clear(facts[0], said)
            return
        more = f", {whole:.0f} % in all" if len(facts) > 1 else ""
        sure = "likely" if whole >= 2 * least else "possible"
        actions = act(evidence, "") if act else ()
        yield Hit("", tuple(facts), said + more, min(30 + whole, 75), sure, actions)

    return find


RULES: Final = (
    Rule(
        "hot-lock",
        "CPU",
        "CPUs wait for a lock of the kernel",
        _NEEDS,
        "15 % of CPU time: a lock that is free takes less than 1 %",
        "Several CPUs want the same lock: often a queue of the card or a qdisc that all send"
        " through, a socket that several threads read, a table of connections.",
        "See who takes it (perf record -g). More transmit queues with XPS, mq in place of one qdisc"
        " for all CPUs, a socket for each thread (SO_REUSEPORT).",
        "Linux kernel/locking/qspinlock.c, queued_spin_lock_slowpath",
        _hot(
            r"(native_|pv_)?(__)?queued_(spin|read|write)_lock_slowpath.*|_raw_spin_lock|osq_lock"
            r"|rwsem_spin_on_owner|mutex_spin_on_owner",
            15,
        ),
    ),
    Rule(
        "hot-iommu",
        "IOMMU",
        "The IOMMU takes CPU time for each packet",
        _NEEDS,
        "10 % of CPU time",
        "Each buffer is mapped before the card may use it and unmapped after; in strict mode the"
        " IOMMU's cache is flushed each time.",
        "Boot with iommu.passthrough=1 (iommu=pt), or with iommu.strict=0, where the devices are"
        " trusted.",
        "Linux Documentation/admin-guide/kernel-parameters.txt, iommu.passthrough, iommu.strict",
        _hot(IOMMU_WORK, 10),
    ),
    Rule(
        "hot-bounce",
        "IOMMU",
        "Packets are copied through bounce buffers (swiotlb)",
        _NEEDS,
        "5 % of CPU time: without swiotlb it is none",
        "The card cannot reach the memory, so the kernel copies each packet to where it can.",
        "Let an IOMMU map the memory, or boot without swiotlb=force; confidential guests need it.",
        "Linux Documentation/core-api/swiotlb.rst",
        _hot(r"swiotlb_.*", 5),
    ),
    Rule(
        "hot-netfilter",
        "protocol",
        "Rules of the firewall take CPU time for each packet",
        _NEEDS,
        "15 % of CPU time",
        "Rules are tried one after the other for each packet, and each packet is looked up in the"
        " table of connections.",
        "Accept established connections in the first rule, put addresses into sets (ipset, nft"
        " sets), do not track what needs no NAT (notrack), offload flows (flowtable).",
        "Linux net/ipv4/netfilter/ip_tables.c, ipt_do_table; net/netfilter/nf_conntrack_core.c",
        _hot(
            r"(ipt|ip6t|arpt|ebt)_do_table|nft_.*|ip_set_.*|hash_(ip|net).*_test|set_match.*"
            r"|(__)?nf_(conntrack|nat|hook|ct|ip_checksum).*|hash_conntrack.*"
            r"|tcp_mt|udp_mt|comment_mt|conntrack_mt.*|state_mt|multiport_mt",
            15,
            by_flow_table,
        ),
    ),
    Rule(
        "hot-capture",
        "protocol",
        "A capture takes a copy of each packet",
        _NEEDS,
        "5 % of CPU time: without a capture it is none",
        "tcpdump, a sniffer or a DHCP client has a packet socket: each packet is copied for it,"
        " received or sent.",
        "End the capture; give it a filter; see who it is with ss -0 -p.",
        "Linux net/packet/af_packet.c, packet_rcv, tpacket_rcv",
        _hot(r"(t?packet)_rcv.*|dev_queue_xmit_nit|prb_fill_.*|tpacket_.*", 5),
    ),
    Rule(
        "hot-checksum",
        "card",
        "The CPU computes checksums of packets",
        _NEEDS,
        "5 % of CPU time: a card that does it leaves less than 1 %",
        "The card does not check or make the checksum: its offload is off, or it cannot look into"
        " these packets (tunnels, fragments).",
        "Look at ethtool -k (rx-checksumming, tx-checksumming).",
        "Linux Documentation/networking/checksum-offloads.rst",
        _hot(r"(__)?csum_partial.*|do_csum|(__)?skb_checksum.*|ip_fast_csum", 5),
    ),
    Rule(
        "hot-pages",
        "CPU",
        "Allocating and freeing pages takes CPU time for each packet",
        _NEEDS,
        "20 % of CPU time",
        "Buffers go back to the kernel's allocator and are taken from it again, with its lock: the"
        " driver does not keep its pages, or another CPU frees them.",
        "A later kernel (page_pool in the driver); shorter rings, so that pages stay in the cache.",
        "Linux Documentation/networking/page_pool.rst",
        _hot(
            r"clear_page.*|get_page_from_freelist|(__)?free_(one_page|pages).*|__alloc_pages.*"
            r"|rmqueue.*|free_pcppages_bulk|free_unref_.*|page_frag_.*|__rmqueue_.*",
            20,
        ),
    ),
    Rule(
        "hot-copies-for-all",
        "protocol",
        "Packets for all are copied for each member",
        _NEEDS,
        "20 % of CPU time",
        "A broadcast or multicast is cloned for every port of a bridge or every macvlan, and each"
        " copy goes through the stack: the work grows with their number.",
        "Let only members have it (IGMP snooping, mcast_flood off, macvlan bclim or bc_queue_len);"
        " keep the stream out of networks of containers.",
        "Linux drivers/net/macvlan.c, macvlan_broadcast; net/bridge/br_forward.c, br_flood",
        _hot(r"macvlan_broadcast|br_(multicast_)?flood|deliver_clone|maybe_deliver|skb_clone", 20),
    ),
    Rule(
        "hot-entry",
        "CPU",
        "Entering and leaving the kernel takes CPU time",
        _NEEDS,
        "15 % of CPU time: without mitigations it is some 2 %",
        "Each system call and interrupt pays for the mitigations of the processor's faults (PTI,"
        " IBRS, retpolines), much on processors of 2011 to 2019: programs of small calls pay most.",
        "Fewer calls (sendmmsg, recvmmsg, io_uring, larger writes), fewer interrupts; a newer"
        " processor or kernel; mitigations=off only where all code is trusted.",
        "Linux Documentation/admin-guide/hw-vuln/spectre.rst; arch/x86/entry/entry_64.S",
        _hot(
            r"entry_SYSCALL_64\w*|syscall_return_via_sysret|swapgs_restore_regs\w*|(__x86_)?indirect_thunk\w*"
            r"|__x86_(indirect|return)_thunk\w*|entry_ibpb|srso_\w+|retbleed\w*",
            15,
        ),
    ),
    Rule(
        "hot-numa",
        "CPU",
        "The kernel moves memory between nodes all the time",
        _NEEDS,
        "4 % of CPU time: where memory lies right it is next to none",
        "Automatic NUMA balancing takes pages away from programs to see who uses them, and moves"
        " them to that node: each use after that is a fault.",
        "Keep the program and its memory on one node (numactl --cpunodebind --membind, systemd's"
        " NUMAPolicy); or switch balancing off.",
        "Linux Documentation/admin-guide/sysctl/kernel.rst, numa_balancing",
        _hot(
            r"task_numa_\w+|do_numa_page|do_huge_pmd_numa_page|numa_migrate_\w+|change_prot_numa"
            r"|migrate_misplaced_\w+|migrate_pages\w*",
            4,
            lambda evidence, _subject: (sysctl(evidence, "kernel.numa_balancing", "0"),),
        ),
    ),
    Rule(
        "hot-crypto",
        "protocol",
        "Encryption takes CPU time for each packet",
        _NEEDS,
        "25 % of CPU time",
        "IPsec, WireGuard or kTLS encrypt on the CPU: its rate is that of one core for one tunnel"
        " or connection, unless workers share it.",
        "Use a cipher that the CPU has instructions for (AES-GCM with AES-NI), several tunnels or"
        " connections, or a card that encrypts.",
        "Linux Documentation/crypto/architecture.rst",
        _hot(r"(_?aes|aesni|gcm|ghash|chacha|poly1305|blake2s|sha\d|crypto|gf128).*", 25),
    ),
    Rule(
        "hot-routes",
        "protocol",
        "Looking up routes takes CPU time for each packet",
        _NEEDS,
        "10 % of CPU time",
        "The table of routes is larger than the CPU's caches, or many policy rules are tried.",
        "Fewer routes (a default route in place of a full table), fewer ip rules.",
        "Linux Documentation/networking/fib_trie.rst",
        _hot(
            r"fib_table_lookup|fib6_.*|ip6_pol_route.*|fib_rules_lookup|__fib_lookup"
            r"|ip_route_(in|out)put_.*",
            10,
        ),
    ),
)
