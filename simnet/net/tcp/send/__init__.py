"""The sending half of a connection: what goes out, and when.

Each piece of state has one owner; others read it there, or ask the owner. `SendSequence` owns the
sequence numbers, the peer's window, the MSS and the send buffer; `Scoreboard` the segments that are
on their way, what may be undone, and where the search for losses goes on (`SackTags` and `Rack` set
tags there, too, with their counts, and two kinds of recovery the counts that stand for SACK);
`Congestion` the congestion window and its threshold; `RttEstimator` the round-trip times;
`SendTimer` the timeout, what the timer is set for and what has expired; `Recovery` the state (Open
to Loss) with all that a recovery remembers; `WindowValidation` how much of the window is in use;
`SendOutput` what Nagle and TSO deferral remember. `TcpSender` puts them together, and hands on to
them what ACKs and the timer say. A part knows only parts before it in this list, so no two hold
each other.
"""
