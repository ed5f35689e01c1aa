"""What is written against AIPerf itself, where it is installed or unpacked.

``TRTSPEC_AIPERF`` may name a folder that holds the package ``aiperf``. Its models
import more than it may find; then there is nothing to test with, and the reason is
told. The facts of our own that the other tests use are compared with it too.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

import pytest

from tests.bench.interchange.runs import measured
from trtspec.bench.interchange import export_aiperf
from trtspec.bench.interchange.aiperf_facts import (
    ACCEPTANCE_FIELDS,
    HISTOGRAM,
    RECORD_UNITS,
    RUN_UNITS,
    SCHEMA_VERSION,
)


@pytest.fixture(scope="module")
def models() -> ModuleType:
    """AIPerf's models."""
    if folder := os.environ.get("TRTSPEC_AIPERF"):
        sys.path.append(folder)
    try:
        return importlib.import_module("aiperf.common.models")
    except Exception as error:  # noqa: BLE001 - whatever its imports need
        pytest.skip(f"AIPerf cannot be imported: {type(error).__name__}: {error}")


@pytest.fixture
def folder(tmp_path):
    export_aiperf(measured(tmp_path), tmp_path / "out")
    return tmp_path / "out/c1-on"


def test_records_are_valid(models, folder):
    lines = (folder / "profile_export.jsonl").read_text().splitlines()
    assert lines
    for line in lines:
        record = models.MetricRecordInfo.model_validate_json(line)
        assert record.spec_decode_acceptance.num_spec_steps > 0
        assert not record.metadata.model_extra
        assert not record.spec_decode_acceptance.model_extra


def test_the_summary_is_valid(models, folder):
    text = (folder / "profile_export_aiperf.json").read_text()
    export = importlib.import_module("aiperf.common.models.export_models")
    summary = export.JsonExportData.model_validate_json(text)
    assert summary.schema_version == export.JsonExportData.SCHEMA_VERSION
    assert summary.request_latency.p99 > 0
    pooled = getattr(summary, HISTOGRAM)
    assert sum(pooled.values()) == summary.total_spec_decode_steps["avg"]


def test_facts_are_those_of_the_package(models):
    export = importlib.import_module("aiperf.common.models.export_models")
    assert export.JsonExportData.SCHEMA_VERSION == SCHEMA_VERSION
    assert tuple(models.SpecDecodeAcceptanceRecord.model_fields) == ACCEPTANCE_FIELDS


def test_tags_and_units_are_those_of_the_package(models):
    try:
        registry = importlib.import_module(
            "aiperf.metrics.metric_registry"
        ).MetricRegistry
        importlib.import_module("aiperf.metrics.types")
    except Exception as error:  # noqa: BLE001 - whatever its imports need
        pytest.skip(f"AIPerf's metrics cannot be imported: {error}")
    for tag, unit in (RECORD_UNITS | RUN_UNITS).items():
        metric = registry.get_class(tag)
        assert str(metric.display_unit or metric.unit) == unit, tag


def test_aiperf_loads_the_folder_itself(models, folder):
    try:
        loader = importlib.import_module("aiperf.plot.core.data_loader").DataLoader()
    except Exception as error:  # noqa: BLE001 - whatever its imports need
        pytest.skip(f"AIPerf's plots cannot be imported: {error}")
    run = loader.load_run(folder)
    assert len(run.requests) == 24
    assert run.aggregated["request_count"]["avg"] == 24
