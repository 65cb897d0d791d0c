"""An answer on a card: what stands on it, and that it is safe to show."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from matplotlib.colors import to_hex
from matplotlib.text import Annotation

from simnet.diagnose.diagnosis import diagnose
from simnet.report.card.card import Card, as_markdown, diagnosed
from simnet.report.card.picture import picture
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.study.run.machine import machine

PLAIN = Card(
    sentence="affinity on here: yes: CPU time per byte -31.7 %",
    of=("a machine", "a kernel"),
    numbers=(("", "before", "after"), ("CPU", "10.0", "7.1")),
    why=("payload from another node: -1.21 us a packet",),
    typed=("echo 1 > /proc/irq/177/smp_affinity",),
    undo=("echo 8 > /proc/irq/177/smp_affinity",),
    foot="simnet: 3 pairs of runs",
)


def test_markdown_has_all_of_it() -> None:
    assert as_markdown(PLAIN).splitlines() == [
        "**affinity on here: yes: CPU time per byte -31.7 %**",
        "",
        "a machine  ",
        "a kernel  ",
        "",
        "|  | before | after |",
        "| --- | ---: | ---: |",
        "| CPU | 10.0 | 7.1 |",
        "",
        "- payload from another node: -1.21 us a packet",
        "",
        "```sh",
        "echo 1 > /proc/irq/177/smp_affinity",
        "",
        "# undo",
        "echo 8 > /proc/irq/177/smp_affinity",
        "```",
        "",
        "<sub>simnet: 3 pairs of runs</sub>",
    ]


def test_a_strangers_text_stays_text() -> None:
    hostile = "<img src=x>`*[a](b)|"
    card = replace(PLAIN, sentence=hostile, why=(hostile,), typed=("echo '```'",), foot=hostile)
    shown = as_markdown(card)
    assert "<img" not in shown
    assert "`*[a]" not in shown
    assert "\n``````sh\necho '```'" in shown


def test_a_long_script_is_for_the_command_line() -> None:
    typed = tuple(f"{('echo', 'true')[number % 2]} {number}" for number in range(40))
    shown = as_markdown(replace(PLAIN, typed=typed, undo=typed))
    assert shown.count("true 11\n# and 28 more lines\n") == 2
    assert "echo 12" not in shown
    assert "true 11\n# and 28 more lines\n" in "\n".join(drawn(replace(PLAIN, typed=typed)))


def drawn(card: Card) -> list[str]:
    return [text.get_text() for part in picture(card).subfigs for text in part.texts]


def test_the_picture_has_the_machine_where_interrupts_go_elsewhere() -> None:
    before, after = load("x460-out-of-box"), load("x460-out-of-box", tunings=["affinity"])
    parts = picture(replace(PLAIN, before=before, after=after)).subfigs
    arrows = [len([one for one in axes.texts if one.get_text() == ""]) for axes in parts[1].axes]
    assert [axes.get_title(loc="left") for axes in parts[1].axes] == ["before", "after"]
    assert arrows == [8, 8]
    assert len(picture(replace(PLAIN, before=before, after=before)).subfigs) == len(parts) - 1
    assert drawn(PLAIN)[0] == PLAIN.sentence


def test_nodes_may_have_any_cpus() -> None:
    before, after = load("x460-out-of-box"), load("x460-out-of-box", tunings=["affinity"])

    def turns(system: Effective) -> Effective:
        """The same with CPU n on node n mod 4."""
        cpus = tuple(tuple(range(node, 64, 4)) for node in range(4))
        machine = system.host.machine.model_copy(update={"node_cpus": cpus})
        host = system.host.model_copy(update={"machine": machine})
        return system.model_copy(update={"host": host})

    card = replace(PLAIN, before=turns(before), after=turns(after))
    axes = picture(card).subfigs[1].axes[1]
    arrows = [one.arrow_patch for one in axes.texts if isinstance(one, Annotation)]
    colours = Counter(to_hex(one.get_edgecolor()) for one in arrows if one is not None)
    # with the tuning interrupts go to CPUs 0, 8, 16 and so on, which are all of node 0 then
    assert colours == {"#009e73": 2, "#d55e00": 6}
    assert machine(turns(before))[0].endswith("64 CPUs on 4 nodes, 8 x broadcom-bcm5704")


def test_a_picture_has_commands() -> None:
    assert PLAIN.typed[0] in drawn(PLAIN)[1]


def test_two_lines_say_which_machine() -> None:
    first, second = machine(load("x460-out-of-box"))
    assert first == "ibm-x460, intel-xeon-7040, 64 CPUs on 4 nodes, 8 x broadcom-bcm5704"
    assert second.startswith("linux-2.6.16-sles10; load: netserver, ")


def test_a_diagnosis_has_its_evidence_and_cure(tmp_path: Path) -> None:
    pasted = tmp_path / "nstat.txt"
    pasted.write_text("#kernel\nUdpInDatagrams  900 0.0\nUdpRcvbufErrors  800 0.0\n")
    card = diagnosed(diagnose([str(pasted)]))
    assert "buffer" in card.sentence
    assert any("nstat.txt" in line for line in card.why)
    assert any(line.startswith("cure: ") for line in card.why)
    nothing = tmp_path / "nothing.txt"
    nothing.write_text("hello\n")
    assert diagnosed(diagnose([str(nothing)])).sentence == "Cannot tell from these files."
