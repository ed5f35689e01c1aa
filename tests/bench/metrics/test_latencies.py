"""TTFT, TPOT, E2E, chunk gaps and lateness of streams computed by hand."""

from __future__ import annotations

import pytest

from tests.bench.fakes import sample
from tests.bench.metrics.streams import arm, stream
from trtspec.bench.metrics import E2E, TPOT, TTFT, ChunkGap, Lateness

BURSTS = "100:1 120:3 140:1 160:4 180:2"
"""11 tokens; chunks 20 ms apart, the first after 100 ms."""


class TestAStreamInBursts:
    def test_tokens_are_counted_and_not_chunks(self):
        assert stream(BURSTS).output_tokens == 11

    def test_ttft_is_that_of_the_first_chunk(self):
        assert TTFT().of(stream(BURSTS)) == pytest.approx(0.100)

    def test_tpot_divides_by_tokens(self):
        # (180 - 100) / (11 - 1) = 8 ms; by chunks it would be 20 ms
        assert TPOT().of(stream(BURSTS)) == pytest.approx(0.0080)

    def test_its_decode_rate_is_the_inverse(self):
        assert 1 / TPOT().of(stream(BURSTS)) == pytest.approx(125.0)

    def test_e2e_ends_with_the_last_token(self):
        assert E2E().of(stream(BURSTS)) == pytest.approx(0.180)

    def test_chunk_gaps_are_those_between_chunks(self):
        gaps = ChunkGap().all_of(stream(BURSTS))
        assert gaps == pytest.approx([0.020] * 4)

    def test_the_same_tokens_in_other_chunks_have_the_same_tpot_and_other_gaps(self):
        other = stream("100:1 180:10")
        assert TPOT().of(other) == pytest.approx(0.0080)
        assert ChunkGap().all_of(other) == pytest.approx([0.080])

    def test_the_servers_count_stands_where_chunks_disagree(self):
        # a server that merges tokens into a chunk, and says so in its usage only
        assert TPOT().of(stream("100:1 180:1", output_tokens=11)) == pytest.approx(
            0.008
        )


class TestTPOT:
    def test_a_single_token_has_none(self):
        assert TPOT().of(stream("100:1")) is None

    def test_many_tokens_in_one_chunk_have_none(self):
        assert TPOT().of(stream("100:8")) is None

    def test_requests_without_one_are_left_out_of_the_percentiles(self):
        found = TPOT().summarize(arm([stream("100:1"), stream(BURSTS)]))
        assert found.count == 1
        assert found.p50.value == pytest.approx(0.0080)


class TestTTFT:
    def test_a_stall_before_the_first_token_is_in_it_and_not_in_tpot(self):
        stalled = stream("5000:1 5010:1 5020:1")
        assert TTFT().of(stalled) == pytest.approx(5.0)
        assert TPOT().of(stalled) == pytest.approx(0.010)


class TestChunkGap:
    def test_a_stall_is_the_longest_gap(self):
        stalled = stream("100:1 110:1 910:1 920:1")
        assert ChunkGap().all_of(stalled) == pytest.approx([0.010, 0.800, 0.010])
        assert ChunkGap().of(stalled) == pytest.approx(0.800)

    def test_every_gap_of_every_request_counts(self):
        found = ChunkGap().summarize(arm([stream(BURSTS), stream("100:1 130:1")]))
        assert found.count == 5
        assert found.p50.value == pytest.approx(0.020)
        assert found.mean == pytest.approx((4 * 0.020 + 0.030) / 5)

    def test_a_single_chunk_has_none(self):
        assert ChunkGap().of(stream("100:8")) is None
        assert ChunkGap().summarize(arm([stream("100:8")])).count == 0


class TestLateness:
    def test_latencies_count_from_when_the_request_was_due(self):
        late = stream(BURSTS, late=0.25)
        assert Lateness().of(late) == pytest.approx(0.25)
        assert TTFT().of(late) == pytest.approx(0.35)
        assert E2E().of(late) == pytest.approx(0.43)
        assert TPOT().of(late) == pytest.approx(0.0080)

    def test_requests_in_time_count_as_well(self):
        found = Lateness().summarize(arm([sample(late=s) for s in (0, 0, 0, 0.5)]))
        assert (found.count, found.p50.value, found.mean) == (4, 0.0, 0.125)

    def test_a_closed_loop_has_no_lateness(self):
        assert Lateness().summarize(arm([sample(), sample()])).count == 0
