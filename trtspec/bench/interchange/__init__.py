"""Results of other tools: read into records of ours, and ours written as theirs.

Written: AIPerf's per-request and summary files, from 0.13.0 on with its acceptance
record. Read: AIPerf's files, and what ``trtllm-bench --report_json`` writes.
"""

from trtspec.bench.interchange.aiperf_export import export_aiperf
from trtspec.bench.interchange.foreign import ForeignMetric, ForeignResult
from trtspec.bench.interchange.read import read_foreign

__all__ = ["ForeignMetric", "ForeignResult", "export_aiperf", "read_foreign"]
