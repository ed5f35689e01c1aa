"""Which flags, fields, paths, limits and failures a TensorRT-LLM version has.

Facts about the engine backend as data: JSON files beside this module, each entry with
the range of versions for which it is established and its source. What is not
established for a version is absent for it, never guessed. Nothing here imports
TensorRT-LLM.
"""

from trtspec.trtllm.facts.documented import (
    all_targets,
    constraints,
    failures,
    not_established,
    number_of,
    targets,
    tokens_per_block,
)
from trtspec.trtllm.facts.engine import architectures, modes
from trtspec.trtllm.facts.executor import (
    all_fields,
    attributes,
    class_names,
    fields,
    most_top_k,
    value_limits,
)
from trtspec.trtllm.facts.presence import (
    backend_range,
    has_backend,
    releases,
    removal,
    tensorrt_version,
)
from trtspec.trtllm.facts.programs import (
    BUILDER,
    PROGRAMS,
    Program,
    all_flags,
    all_script_paths,
    example_folders,
    flags,
    script_path,
    version_marks,
)
from trtspec.trtllm.facts.records import (
    Architecture,
    Constraint,
    Field,
    Flag,
    KnownFailure,
    Limit,
    Release,
    Removal,
    ScriptPath,
    Targets,
)

__all__ = [
    "BUILDER",
    "PROGRAMS",
    "Architecture",
    "Constraint",
    "Field",
    "Flag",
    "KnownFailure",
    "Limit",
    "Program",
    "Release",
    "Removal",
    "ScriptPath",
    "Targets",
    "all_fields",
    "all_flags",
    "all_script_paths",
    "all_targets",
    "architectures",
    "attributes",
    "backend_range",
    "class_names",
    "constraints",
    "example_folders",
    "failures",
    "fields",
    "flags",
    "has_backend",
    "modes",
    "most_top_k",
    "not_established",
    "number_of",
    "releases",
    "removal",
    "script_path",
    "targets",
    "tensorrt_version",
    "tokens_per_block",
    "value_limits",
    "version_marks",
]
