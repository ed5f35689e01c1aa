"""Schedulers, graphs, cache reuse and parallelism beside speculation."""

from tests.check.kinds.asking import (
    EAGLE3,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    PAIR,
    SUFFIX,
    ask,
    bad,
    faults,
    good,
    innocents,
    limited,
    on_pytorch,
    passes,
    tells,
)

BROKEN = ("combination-broken", "blocking")
IGNORED = ("combination-ignored", "warning")
UNTESTED = ("combination-untested", "warning")
UNKNOWN = ("combination-unknown", "warning")
DEEPSEEK = "deepseek"
FP8_AND_CHUNKS = on_pytorch(kv_cache="fp8", chunked_prefill=True)


@faults(
    bad(
        "n-gram with the overlap scheduler",
        ask(NGRAM, "1.2.1", sections=on_pytorch(overlap_scheduler=True)),
        *IGNORED, "ngram", "overlap scheduler", "1.2.1",
    ),
    bad(
        "FP8 cache, a head in 16 bits, chunked prefill",
        ask(EAGLE3, "1.1.0", sections=FP8_AND_CHUNKS),
        *BROKEN, "kv_cache fp8", "bfloat16", "chunked prefill", "8910",
    ),
    bad(
        "block reuse beside a draft model of 1.0",
        ask(PAIR, "1.0.0", sections=on_pytorch(block_reuse=True)),
        *IGNORED, "draft_target", "KV cache reuse", "block_reuse: false",
    ),
    bad(
        "chunked prefill with MTP on 1.0",
        ask(MTP, "1.0.0", target=DEEPSEEK, sections=on_pytorch(chunked_prefill=True)),
        *UNTESTED, "mtp", "chunked prefill", "1.0.0",
    ),
    bad(
        "a budget below a step of the whole batch, drafts counted",
        ask(
            EAGLE3, NEWEST,
            sections=limited(max_batch_size=300) | on_pytorch(max_num_tokens=1199),
        ),
        "num-tokens", "warning", "1199", "300", "1200", "4 tokens",
    ),
    bad(
        "graphs of batches that never run",
        ask(EAGLE3, "1.2.1", sections=on_pytorch(cuda_graph_batch_sizes=[1, 8, 64])),
        "cuda-graphs", "note", "64", "max_batch_size 8",
    ),
    bad(
        "reuse with other attention kernels",
        ask(EAGLE3, "1.2.1", sections=on_pytorch(attention_backend="FLASHINFER")),
        "block-reuse", "warning", "FLASHINFER", "1.2.1",
    ),
    bad(
        "latent attention where it has no reuse",
        ask(MTP, "1.2.1", target=DEEPSEEK, gpu="a100-sxm-80gb x8"),
        "latent-attention", "warning", "block_reuse", "8.0",
    ),
)  # fmt: skip
def test_schedulers_graphs_and_reuse(place, asked, told):
    """TensorRT-LLM #15639, #13135, PRs 5076, 5448, 6676, 8910, 16101."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "all of it with EAGLE-3 on 1.2",
        ask(
            EAGLE3,
            "1.2.1",
            sections=on_pytorch(
                overlap_scheduler=True,
                cuda_graphs=True,
                chunked_prefill=True,
                block_reuse=True,
            ),
        ),
        "combination-ignored",
        "combination-untested",
        "combination-unknown",
    ),
    good(
        "n-gram without the overlap scheduler",
        ask(NGRAM, "1.2.1", sections=on_pytorch(overlap_scheduler=False)),
        "combination-ignored",
    ),
    good(
        "a budget of exactly a step of the whole batch",
        ask(
            EAGLE3,
            NEWEST,
            sections=limited(max_batch_size=256, max_input_tokens=512)
            | on_pytorch(max_num_tokens=1533),
        ),
        "num-tokens",
    ),
    good(
        "FP8 cache and chunks on 1.2",
        ask(EAGLE3, NEWEST, sections=FP8_AND_CHUNKS),
        "combination-untested",
    ),
)
def test_schedulers_graphs_and_reuse_that_go_together(place, asked, rules):
    passes(place.check(**asked), *rules)


PIPELINE = on_pytorch(llm_args={"pipeline_parallel_size": 2})


def shared(size, model="llama"):
    """Give a target that so many GPUs share."""
    return {"model": f"./{model}", "tensor_parallel": size}


@faults(
    bad(
        "EAGLE-3 over two pipeline stages",
        ask(EAGLE3, "1.1.0", sections=PIPELINE),
        "llm-args", "blocking", "pipeline_parallel_size 2", "eagle3",
        "tensor_parallel",
    ),
    bad(
        "the suffix automaton over two stages",
        ask(SUFFIX, NEWEST, sections=PIPELINE),
        "llm-args", "blocking", "pipeline_parallel_size 2", "suffix",
    ),
    bad(
        "MTP over two stages, which a published recipe asked for",
        ask(MTP, NEWEST, target=DEEPSEEK, sections=PIPELINE),
        "llm-args", "blocking", "pipeline_parallel_size 2", "mtp",
    ),
    bad(
        "helix parallelism",
        ask(
            EAGLE3, NEWEST,
            sections=on_pytorch(llm_args={"context_parallel_size": 2}),
        ),
        "llm-args", "blocking", "context_parallel_size 2", "eagle3",
    ),
    bad(
        "a size that does not divide the heads",
        ask(EAGLE3, NEWEST, target=shared(3)),
        "tensor-parallel", "blocking", "tensor_parallel 3", "32", "target",
    ),
    bad(
        "a size that does not divide the draft's heads",
        ask(
            {**PAIR, "tensor_parallel": 3}, "1.2.1",
            backend="tensorrt", target=shared(4),
        ),
        "tensor-parallel", "blocking", "tensor_parallel 3", "32", "draft",
    ),
    bad(
        "a draft size of its own",
        ask({**PAIR, "tensor_parallel": 1}, NEWEST, target=shared(4)),
        "draft-parallel", "warning", "tensor_parallel 1",
    ),
    bad(
        "attention data parallelism with a draft model",
        ask(PAIR, "1.2.1", sections=on_pytorch(attention_dp=True)),
        *UNKNOWN, "draft_target", "attention data parallelism",
    ),
    bad(
        "more GPUs than there are",
        ask(EAGLE3, NEWEST, target=shared(8), gpu="h100x4"),
        "tensor-parallel", "warning", "8 GPUs", "4 visible",
    ),
    bad(
        "ranks that do not fill the nodes",
        ask(EAGLE3, NEWEST, target=shared(8), sections=on_pytorch(gpus_per_node=3)),
        "nodes", "blocking", "8 ranks", "3 GPUs",
    ),
    bad(
        "experts that the GPUs cannot share",
        ask(
            MTP, NEWEST, target=shared(8, DEEPSEEK),
            sections=on_pytorch(expert_parallel=3),
        ),
        "expert-parallel", "blocking", "expert_parallel 3", "8",
    ),
)  # fmt: skip
def test_parallelism(place, asked, told):
    """TensorRT-LLM #9009, PR 11838; vLLM 14117, 49355, 10483; SGLang 4847."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "a target and head on four GPUs",
        ask(EAGLE3, NEWEST, target=shared(4), gpu="h100x4"),
        "tensor-parallel",
        "combination-refused",
    ),
    good(
        "attention data parallelism with EAGLE-3",
        ask(EAGLE3, "1.2.1", sections=on_pytorch(attention_dp=True)),
        "combination-unknown",
    ),
    good(
        "a pipeline of one",
        ask(
            EAGLE3,
            NEWEST,
            sections=on_pytorch(llm_args={"pipeline_parallel_size": 1}),
        ),
        "llm-args",
        "combination-refused",
    ),
    good(
        "a draft of the target's own size",
        ask({**PAIR, "tensor_parallel": 4}, NEWEST, target=shared(4)),
        "draft-parallel",
        "combination-ignored",
    ),
    good(
        "two stages without speculation",
        ask(NONE, NEWEST, sections=PIPELINE),
        "llm-args",
    ),
)
def test_parallelism_that_is_fine(place, asked, rules):
    passes(place.check(**asked), *rules)
