"""Texts with several outputs one after another, and what is not an output of its own."""

from hypothesis import given
from hypothesis import strategies as st

from simnet.importing.pasted import Part, split

TEXT = """\
here is what I have:
$ uname -a
Linux db1 5.15.0-91-generic #101-Ubuntu SMP x86_64
root@db1:~# ethtool -i eth0
driver: igb
[root@db1 ~]# sudo cat /proc/interrupts
           CPU0
## ethtool -g eth0
```
Ring parameters for eth0:
```
==> /proc/cmdline <==
quiet
--- lscpu ---
CPU(s): 3
"""


def test_prompts_and_headings_split() -> None:
    assert [(one.name, one.command, one.first, one.lines) for one in split(TEXT)] == [
        ("", None, 1, ("here is what I have:",)),
        ("uname -a", "uname -a", 3, ("Linux db1 5.15.0-91-generic #101-Ubuntu SMP x86_64",)),
        ("ethtool -i eth0", "ethtool -i eth0", 5, ("driver: igb",)),
        ("cat /proc/interrupts", "cat /proc/interrupts", 7, ("           CPU0",)),
        ("ethtool -g eth0", "ethtool -g eth0", 10, ("Ring parameters for eth0:",)),
        ("/proc/cmdline", None, 13, ("quiet",)),
        ("lscpu", "lscpu", 15, ("CPU(s): 3",)),
    ]


def test_a_comment_or_a_sentence_is_no_heading() -> None:
    text = (
        "# The following is the parsable format\n# ip link is up and running here\n- - - - -\n1,2"
    )
    assert split(text) == [Part("", None, 1, tuple(text.splitlines()))]


@given(st.text(max_size=400))
def test_no_line_is_lost_but_those_that_name_a_part(text: str) -> None:
    parts = split(text)
    kept = [line for part in parts for line in part.lines]
    listed = text.splitlines()
    assert len(kept) <= len(listed)
    for part in parts:
        assert set(part.lines) <= set(listed)
