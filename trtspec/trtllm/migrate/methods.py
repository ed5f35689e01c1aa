"""Which speculation method a ``decoding_type`` means, however it is spelled."""

from __future__ import annotations

from packaging.version import Version

from trtspec.trtllm.facts.llm_args import decoding_type

_CLASSES = {
    "eagle3": ("Eagle3DecodingConfig", "EagleDecodingConfig"),
    "mtp": ("MTPDecodingConfig",),
    "ngram": ("NGramDecodingConfig",),
    "draft_target": ("DraftTargetDecodingConfig",),
    "user": ("UserProvidedDecodingConfig",),
    "auto": ("AutoDecodingConfig",),
    "save_state": ("SaveHiddenStatesDecodingConfig",),
    "suffix": ("SADecodingConfig",),
    "pard": ("PARDDecodingConfig",),
    "dflash": ("DFlashDecodingConfig",),
    "dspark": ("DSparkDecodingConfig",),
    "medusa": ("MedusaDecodingConfig",),
    "lookahead": ("LookaheadDecodingConfig",),
}
"""Method → its classes, the one that is taken where both are there first."""
_SPELLINGS = {
    "eagle3": "eagle eagle3 eagle3onemodel eaglethree",
    "mtp": "mtp mtpeagle mtpeagleonemodel mtpvanilla",
    "ngram": "ngram promptlookup pld",
    "draft_target": "drafttarget draftmodel drafttargetonemodel drafttokensexternal",
    "user": "userprovided user",
    "auto": "auto",
    "save_state": "savestate savehiddenstates",
    "suffix": "sa suffix suffixautomaton",
    "pard": "pard",
    "dflash": "dflash",
    "dspark": "dspark",
    "medusa": "medusa",
    "lookahead": "lookahead lookaheaddecoding",
    "redrafter": "redrafter explicitdrafttokens",
    "eagle": "eagle1 eagle2",
}
_METHOD = {
    spelling: method for method, text in _SPELLINGS.items() for spelling in text.split()
}


def method_of(spelled: object) -> str:
    """Give the method that a ``decoding_type`` means; empty for an unknown one.

    >>> method_of("Draft-Target"), method_of("DraftTarget"), method_of("Best")
    ('draft_target', 'draft_target', '')
    """
    if not isinstance(spelled, str):
        return ""
    plain = spelled.lower().translate(str.maketrans("", "", "_- "))
    return _METHOD.get(plain, "")


def class_name(method: str, version: Version) -> str | None:
    """Give the class of a method in a version; None if the version lacks it."""
    found = (c for c in _CLASSES.get(method, ()) if decoding_type(c, version))
    return next(found, None)


def spelling(method: str, version: Version) -> str | None:
    """Give the ``decoding_type`` of a method in a version; None if that lacks it."""
    name = class_name(method, version)
    return None if name is None else decoding_type(name, version)
