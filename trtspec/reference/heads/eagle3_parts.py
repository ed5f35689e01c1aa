"""What parts a stored EAGLE-3 head has, and whether they fit the target model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from trtspec.errors import RunError
from trtspec.reference.heads.eagle3_layout import Eagle3Layout, FusionNorm

_CHOOSE = "choose a head that was made for this target model"


@dataclass(frozen=True, slots=True)
class StoredHead:
    """A head's checkpoint.

    :param config: as ``flat_config`` gives it.
    :param sizes: of the decoder layers, as ``layer_config`` gives them.
    :param tensors: by the names that ``module_names`` gives.
    """

    directory: Path
    config: Mapping[str, Any]
    sizes: Any
    tensors: Mapping[str, Tensor]

    def layout(self, target_width: int, vocabulary: int) -> Eagle3Layout:
        """Tell the parts from the tensors, and the rest from the configuration.

        :param target_width: hidden size of the target that the head is to draft for.
        :param vocabulary: rows of the target's logits.
        :raises RunError: if the parts do not fit the target, or a variant is not known.
        """
        eagle = self.config.get("eagle_config") or {}
        if eagle.get("eh_proj_before_attn") or "eh_proj.weight" in self.tensors:
            raise self._unfit("projects embedding and state before its attention")
        self._require_shared(target_width)
        self._require_table(vocabulary)
        known = int(self.sizes.vocab_size)
        return Eagle3Layout(
            target_width=target_width,
            drafted=self._rows("lm_head.weight") or known,
            embedded=self._rows("embed_tokens.weight") or known,
            captured=self._captured(target_width),
            reading=self._reading(),
            has_fusion="fc.weight" in self.tensors,
            fusion_norm=self._fusion_norm(),
            has_embedding="embed_tokens.weight" in self.tensors,
            has_output="lm_head.weight" in self.tensors,
            has_table="d2t" in self.tensors,
            has_mask="t2d" in self.tensors,
            norm_before_residual=bool(self.config.get("norm_before_residual")),
            feeds_normed=bool(
                self.config.get("norm_output") or eagle.get("return_hidden_post_norm")
            ),
        )

    def _rows(self, name: str) -> int | None:
        return self.tensors[name].shape[0] if name in self.tensors else None

    def _captured(self, target_width: int) -> int:
        if "fc.weight" not in self.tensors:
            return 1
        columns = self.tensors["fc.weight"].shape[1]
        if columns % target_width:
            raise self._unfit(
                f"fc.weight reads {columns} values",
                f"a multiple of {target_width}, the target's hidden size",
            )
        return int(columns // target_width)

    def _reading(self) -> tuple[bool, ...]:
        """Two norms before the attention: of the embedding, and of the state."""
        layers = range(self.sizes.num_hidden_layers)
        return tuple(f"layers.{n}.hidden_norm.weight" in self.tensors for n in layers)

    def _fusion_norm(self) -> FusionNorm:
        if "input_norm.weight" in self.tensors:
            return "whole"
        return "each" if "fc_norm.0.weight" in self.tensors else "none"

    def _require_shared(self, target_width: int) -> None:
        """What the head lacks it shares with the target, and then that must fit."""
        width = int(self.sizes.hidden_size)
        for name in ("embed_tokens.weight", "lm_head.weight"):
            if name not in self.tensors and width != target_width:
                raise self._unfit(
                    f"has no tensor {name}, and is {width} wide",
                    f"{target_width} wide, to share the target's",
                )

    def _require_table(self, vocabulary: int) -> None:
        """Each draft token must be one of the target's, and another one.

        Of one that is named twice the proposal would not tell how often it is drawn.
        """
        if (table := self.tensors.get("d2t")) is None:
            return
        ids = [int(offset) + token for token, offset in enumerate(table.tolist())]
        if twice := len(ids) - len(set(ids)):
            raise self._unfit(
                f"the table d2t names {twice} tokens twice",
                "one token of the target model for each draft token",
            )
        if unknown := [token for token in ids if not 0 <= token < vocabulary]:
            raise self._unfit(
                f"the table d2t names the token {unknown[0]}",
                f"tokens of this target model, 0 to {vocabulary - 1}",
            )

    def _unfit(self, what: str, allowed: str = "") -> RunError:
        return RunError(
            what, where=str(self.directory), allowed=allowed, action=_CHOOSE
        )
