"""Which artifact is it: one hash over all that decides what the artifact does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from trtspec.build.stage import KEY_DIGITS, Stage
from trtspec.files import sha256_json
from trtspec.recipe.schema import Recipe

FINGERPRINT_SCHEMA = "trtspec/fingerprint/v1"


def fingerprint(
    recipe: Recipe,
    files: Mapping[str, Mapping[str, str]],
    stages: Sequence[Stage],
    chat_template: bytes | None = None,
) -> str:
    """Hash what decides an artifact; gives 64 hexadecimal digits.

    Counted: backend, target and speculation settings, limits, sampling, the content
    of the checkpoints, a chat template beside the recipe, and the keys of the stages
    whose output is in the artifact (they hold the versions that decide a conversion).
    Not counted: the name, the workload, what tune wrote, and where the checkpoints came
    from; nor the rules that a build ignored: from the same inputs it makes the same
    files, whether it was told to go on or not, and what is known to be lossy cannot be
    ignored but only be allowed by the recipe, which counts. The manifest lists them.

    :param files: per role ("target", "draft") the checkpoint's files and sha256.
    :param chat_template: the one that the recipe names, if it does.
    """
    deciding: dict[str, object] = {
        "schema": FINGERPRINT_SCHEMA,
        "recipe": deciding_settings(recipe),
        "files": {role: dict(hashes) for role, hashes in files.items()},
        "stages": {stage.name: stage.key for stage in stages if stage.folder},
    }
    if chat_template is not None:
        deciding["chat_template"] = hashlib.sha256(chat_template).hexdigest()
    return sha256_json(deciding)


def deciding_settings(recipe: Recipe) -> dict[str, object]:
    """Give the recipe without its name, its workload and its model references."""
    where_from = {"model", "revision", "family", "chat_template"}
    return recipe.model_dump(
        mode="json",
        by_alias=True,
        exclude={
            "name": True,
            "workload": True,
            "tuned": True,
            "target": where_from,
            "speculation": where_from,
            # what it holds decides the key of the stage that reads it
            "pytorch": {"calibration_prompts"},
        },
    )


def artifact_name(name: str, fingerprint: str) -> str:
    """Give the name of an artifact's directory.

    :param name: the recipe's name.
    """
    return f"{name}-{fingerprint[:KEY_DIGITS]}"
