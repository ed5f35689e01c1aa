"""Speculation methods to test with: one of each, and any legal one."""

from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from trtspec.methods import MAX_DRAFT_LENGTH, Method, Speculation

ADAPTER = TypeAdapter(Speculation)

SMALLEST = {
    "none": {"method": "none"},
    "ngram": {"method": "ngram", "draft_length": 4},
    "draft_target": {"method": "draft_target", "model": "d", "draft_length": 4},
    "medusa": {"method": "medusa", "model": "d"},
    "eagle": {"method": "eagle", "model": "d"},
    "redrafter": {"method": "redrafter", "model": "d"},
    "lookahead": {"method": "lookahead"},
    "suffix": {"method": "suffix", "draft_length": 4},
    "eagle3": {"method": "eagle3", "model": "d", "draft_length": 4},
    "mtp": {"method": "mtp", "draft_length": 4},
    "pard": {"method": "pard", "model": "d", "draft_length": 4},
    "dflash": {"method": "dflash", "model": "d", "draft_length": 4},
    "user": {"method": "user", "drafter": "m:a", "draft_length": 4},
    "auto": {"method": "auto"},
}
"""What each method cannot do without."""


def made(method: str, **fields: object) -> Method:
    """Make a method from the keys that a recipe would have."""
    return ADAPTER.validate_python(SMALLEST[method] | fields)


def refusal(method: str, **fields: object) -> dict[str, object]:
    """Give what the one error of a method says, which must come from a rule of ours."""
    try:
        made(method, **fields)
    except ValidationError as caught:
        (error,) = caught.errors()
        assert error["type"] == "recipe_rule"
        return error["ctx"]
    raise AssertionError(f"{fields} are accepted")


# what no YAML file can hold as text of a recipe: NUL and halves of surrogate pairs
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
)
OPTIONAL_TEXT = st.none() | TEXT
QUANTIZATIONS = ["none", "fp8", "nvfp4", "int4_awq", "int8_sq", "int8_wo"]
LENGTH = st.integers(1, MAX_DRAFT_LENGTH)
CHAIN = {
    "draft_length": LENGTH
    | st.dictionaries(st.integers(1, 4096), LENGTH, min_size=1, max_size=5),
    "acceptance": st.just("exact"),
}
DRAFTER = {"model": TEXT, "revision": OPTIONAL_TEXT}
LOSSY = {"allow_lossy": st.booleans()}
REJECTION = {"rejection_sampling": st.booleans()}
ENHANCED = {"suffix_threshold": st.none() | st.integers(1, 1024), **REJECTION}
TOKEN = st.integers(0, 2**31 - 1)
LAYERS = st.lists(st.integers(-1, 4096), min_size=1, max_size=4)
ENTRY_POINT = st.sampled_from(["a:b", "a.b_1.c:D", "_x:_y"])


@st.composite
def trees(draw, most_nodes=20, most_levels=6):
    """Draw paths, each with its parent, in any order."""
    paths = [()]
    for _ in range(draw(st.integers(1, most_nodes))):
        inner = [path for path in paths if len(path) < most_levels]
        parent = draw(st.sampled_from(inner))
        paths.append((*parent, draw(st.integers(0, MAX_DRAFT_LENGTH - 1))))
    nodes = sorted(set(paths) - {()})
    return [list(path) for path in draw(st.permutations(nodes))]


@st.composite
def eagles(draw):
    """Draw the keys of EAGLE: a fixed tree or a dynamic one, exact or typical."""
    keys = {"method": "eagle", "model": draw(TEXT), "max_draft_tokens": 200}
    if draw(st.booleans()):
        tree = draw(trees())
        keys |= {"tree": tree, "num_layers": max(map(len, tree))}
        keys["max_non_leaves_per_layer"] = len(tree)
    else:
        keys |= {"tree": "dynamic", "dynamic_top_k": draw(LENGTH)}
    return keys | draw(typicals())


@st.composite
def medusas(draw):
    """Draw the keys of Medusa, exact or typical."""
    keys = {"method": "medusa", "num_heads": draw(st.integers(6, 32))}
    keys |= draw(st.fixed_dictionaries(DRAFTER))
    layers, tree = st.integers(1, 16), st.just("mc_sim_7b_63") | trees()
    optional = {"num_layers": layers, "tree": tree, **LOSSY}
    keys |= draw(st.fixed_dictionaries({}, optional=optional))
    return keys | draw(typicals())


@st.composite
def typicals(draw):
    """Draw nothing, or the keys of typical acceptance."""
    if draw(st.booleans()):
        return {}
    threshold = draw(st.floats(0, 1, exclude_max=True))
    return {"acceptance": "typical", "posterior_threshold": threshold}


@st.composite
def redrafters(draw):
    """Draw the keys of ReDrafter, with beams that an engine has room for."""
    beams = draw(LENGTH)
    return {
        "method": "redrafter",
        "model": draw(TEXT),
        "num_beams": beams,
        "draft_length_per_beam": draw(st.integers(1, MAX_DRAFT_LENGTH // beams)),
        "greedy_search": draw(st.booleans()),
    }


@st.composite
def dynamic_trees(draw):
    """Draw the keys of a dynamic tree that fit one another."""
    depth, top_k = draw(st.integers(1, 16)), draw(st.integers(1, 16))
    keys = {"tree": "dynamic", "tree_top_k": top_k, "draft_length": depth}
    if draw(st.booleans()):
        keys["tree_tokens"] = draw(st.integers(depth, depth * top_k))
    return keys


@st.composite
def fixed_trees(draw):
    """Draw the keys of a fixed tree in a method that has a draft length."""
    tree = draw(trees())
    return {"tree": tree, "draft_length": draw(st.integers(max(map(len, tree)), 16))}


@st.composite
def eagle3s(draw):
    """Draw the keys of EAGLE-3: a chain, a fixed tree or a dynamic one."""
    keys = {"method": "eagle3", "model": draw(TEXT)}
    keys |= draw(st.fixed_dictionaries({}, optional={**ENHANCED, **LOSSY}))
    keys |= {"draft_length": draw(CHAIN["draft_length"])}
    keys["two_model"] = draw(st.none() | st.booleans())
    keys["layers_to_capture"] = draw(st.none() | LAYERS)
    if draw(st.booleans()):
        keys |= draw(dynamic_trees() | fixed_trees())
    return keys


@st.composite
def mtps(draw):
    """Draw the keys of MTP: exact or relaxed, a chain or a dynamic tree."""
    keys = {"method": "mtp", "draft_length": draw(CHAIN["draft_length"])}
    keys |= draw(st.fixed_dictionaries({"vanilla": st.booleans()}, optional=ENHANCED))
    if draw(st.booleans()):
        keys |= {"acceptance": "relaxed", "relaxed_top_k": 8, "relaxed_delta": 0.5}
        keys["thinking_tokens"] = draw(
            st.none() | st.lists(TOKEN, min_size=2, max_size=2)
        )
    if draw(st.booleans()):
        keys |= draw(dynamic_trees())
    if draw(st.booleans()) and not (keys["vanilla"] and "tree" in keys):
        keys |= draw(st.fixed_dictionaries(DRAFTER))
    return keys


SPECULATION = st.one_of(
    st.just({"method": "none"}),
    st.fixed_dictionaries(
        {"method": st.just("ngram"), **CHAIN},
        optional={"max_matching_ngram": st.integers(1, 16), **LOSSY},
    ),
    st.fixed_dictionaries(
        {"method": st.just("draft_target"), "model": TEXT, **CHAIN},
        optional={
            "revision": OPTIONAL_TEXT,
            "family": OPTIONAL_TEXT,
            "quantization": st.sampled_from(QUANTIZATIONS),
            "tensor_parallel": st.integers(1, 1024),
            "use_draft_logits": st.booleans(),
            **LOSSY,
        },
    ),
    medusas(),
    eagles(),
    redrafters(),
    st.fixed_dictionaries(
        {"method": st.just("lookahead")},
        optional={
            "window_size": st.integers(1, 16),
            "ngram_size": st.integers(2, 8),
            "verification_set_size": st.integers(0, 16),
            **LOSSY,
        },
    ),
    st.fixed_dictionaries(
        {"method": st.just("suffix"), **CHAIN},
        optional={"max_matching_ngram": st.integers(1, 64), **LOSSY},
    ),
    st.fixed_dictionaries(
        {"method": st.just("suffix"), "global_pool": st.just(True), **CHAIN},
        optional={"global_pool_size": st.integers(1, 1024)},
    ),
    eagle3s(),
    mtps(),
    st.fixed_dictionaries(
        {"method": st.just("pard"), **DRAFTER, **CHAIN},
        optional={"mask_token_id": st.none() | TOKEN, **ENHANCED, **LOSSY},
    ),
    st.fixed_dictionaries(
        {"method": st.just("dflash"), **DRAFTER, **CHAIN},
        optional={
            "mask_token_id": st.none() | TOKEN,
            "target_layers": st.none() | LAYERS,
            **REJECTION,
            **LOSSY,
        },
    ),
    st.fixed_dictionaries(
        {"method": st.just("user"), "drafter": ENTRY_POINT, **CHAIN},
        optional={"resource_manager": st.none() | ENTRY_POINT, **LOSSY},
    ),
    st.fixed_dictionaries({"method": st.just("auto")}, optional=LOSSY),
)
"""The keys of any method, as a recipe would have them."""
