"""What schemathesis cannot read from an OpenAPI document of ours, for its checks.

Given to it as ``SCHEMATHESIS_HOOKS=tests.peers.schemathesis_hooks``. Its own check
positive_data_acceptance is replaced: a request may follow the schema in every field and
yet not fit. JSON Schema cannot count the tokens of a text, nor compare fields by sum or
product; the server says by its error code that it is one of those cases.
"""

import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

NOT_IN_THE_SCHEMA = {
    # prompt and output tokens together; a chat template adds some
    "context_length_exceeded",
    # stream_options without stream, top_logprobs without logprobs, n times prompts
    "unsupported_combination",
    # a text of which this tokenizer makes no token at all, such as a space
    "empty_prompt",
}


@schemathesis.check
def what_fits_is_accepted(ctx, response, case):
    """Positive data is accepted, unless the server says why it does not fit."""
    if response.status_code == 400:
        code = response.json()["error"]["code"]
        if code in NOT_IN_THE_SCHEMA:
            return
    positive_data_acceptance(ctx, response, case)
