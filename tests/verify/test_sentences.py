"""What a reader of the terminal learns of gate, parity and distribution test."""

from types import SimpleNamespace

from trtspec.verify.distribution.result import Comparison
from trtspec.verify.gate.result import judge, lossless, lossy, untold
from trtspec.verify.greedy.records import Comparison as Parity
from trtspec.verify.greedy.records import Difference, GreedyParity
from trtspec.verify.greedy.sentences import parity_lines
from trtspec.verify.greedy.shares import share
from trtspec.verify.greedy.tolerance import tolerance_for
from trtspec.verify.sentences import distribution_lines, gate_lines


def test_the_gate_shows_every_value_it_inspected():
    found = judge(
        "TensorRT-LLM",
        "1.2.1",
        "greedy",
        [
            lossless("method", "recipe", "ngram", "keeps the output"),
            lossy("typical", "recipe", 0.3, "takes unlikely tokens"),
            untold("x", "environment", None, "no source says"),
        ],
        ["configuration alone"],
    )
    assert gate_lines(found) == [
        "TensorRT-LLM 1.2.1, greedy requests",
        "method = ngram (recipe): lossless, keeps the output",
        "typical = 0.3 (recipe): LOSSY, takes unlikely tokens",
        "x = unset (environment): not settled, no source says",
        "configuration alone",
    ]


def comparison(p_value=0.5, level=0.03, smallest=0.12):
    return Comparison(
        first="on",
        second="off",
        sizes=(20, 40),
        statistic=10.0,
        expected=9.0,
        spread=3.0,
        p_value=p_value,
        level=level,
        shift=0.02,
        smallest_shift=smallest,
        smallest_shift_in_one=0.3,
        repeats=(0.1, 0.1),
        prompts=(),
    )


def test_the_distribution_test_shows_all_three_comparisons_and_its_power():
    found = SimpleNamespace(
        plan=SimpleNamespace(temperature=0.7, top_p=0.9, places=5),
        requests=80,
        compared="token ids",
        on=comparison(),
        floor=comparison(smallest=None),
        control=comparison(p_value=0.001),
        control_says="hotter",
    )
    lines = distribution_lines(found)
    assert lines[0].startswith("80 requests at temperature 0.7, top-p 0.9")
    assert lines[1].startswith("on against off: no difference, p = 0.5 (level 0.03)")
    assert lines[1].endswith("of shifts 0.12 would be seen")
    assert lines[2].endswith("of shifts none could be seen")
    assert lines[3].startswith("negative control (hotter): differs, p = 0.001")


def difference(kind, gap, **more):
    known = {"prompt_id": "p7", "position": 4, "off": 5, "on": None}
    return Difference(**{**known, "kind": kind, "source": "logits", "gap": gap, **more})


def parity(*differences):
    counts = {
        kind: sum(d.kind == kind for d in differences)
        for kind in ("near tie", "divergence", "cannot tell")
    }
    one = Parity(
        arm="on",
        concurrency=4,
        off_concurrency=1,
        prompts=8,
        by="token ids",
        tokens=500,
        identical=share(8 - len(differences), 8),
        near_ties=share(counts["near tie"], 8),
        divergences=share(counts["divergence"], 8),
        unknown=share(counts["cannot tell"], 8),
        drafted=100,
        accepted=40,
        differences=differences,
    )
    return GreedyParity(
        verdict="pass",
        reasons=(),
        tolerance=tolerance_for("bfloat16", "test"),
        max_tokens=64,
        comparisons=(one,),
        floor=(),
    )


def test_examples_are_what_is_no_near_tie_the_largest_gap_first():
    lines = parity_lines(
        parity(
            difference("near tie", 0.1),
            difference("divergence", 2.0),
            difference("divergence", 9.0),
            difference("cannot tell", 0.2, at_least=True),
        )
    )
    examples = [line for line in lines if "prompt p7" in line]
    assert len(examples) == 3
    assert "gap 9 (logits): divergence" in examples[0]
    assert "gap 0.2 or more" in examples[2]
    assert "off 5, other ended" in examples[0]


def test_near_ties_are_told_per_thousand_tokens():
    line = parity_lines(parity(difference("near tie", 0.1)))[0]
    assert "near ties 1 of 8 (12%, 2% to 47%), 2 per 1,000 tokens" in line
    assert "100 drafted, 40 accepted" in line


def test_where_nothing_differs_nothing_is_said_of_differences():
    assert len(parity_lines(parity())) == 2


def test_the_verdict_stands_first_and_reasons_stand_below_their_part():
    from tests.verify.test_verdict import document, part
    from trtspec.verify.lines import Line, lines_of
    from trtspec.verify.verdict import Skipped

    skipped = (Skipped(name="sampled", why="not asked for"),)
    lines = list(lines_of(document(part(gap=3.1), skipped=skipped)))
    words = "fail: the output is not the target's own: greedy parity"
    assert lines[0] == Line(words, "fail")
    texts = [line.text for line in lines]
    title = texts.index("greedy parity: fail (1.5 s)")
    assert texts[title + 1] == "  a line"
    assert texts[title + 2].startswith("  because: on at 1 requests at once")
    assert lines[title + 2].verdict == "fail"
    assert texts[-1] == "not run: distribution test: not asked for"
