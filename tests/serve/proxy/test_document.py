"""Whether the front's OpenAPI document says what the front does."""

from __future__ import annotations

import json

import jsonschema

from tests.serve.proxy.rig import FakeServer, asking, front, run
from trtspec.serve.proxy.pool import OFF, ON


def dangling(node, document):
    """References that lead nowhere."""
    if isinstance(node, list):
        return [one for each in node for one in dangling(each, document)]
    if not isinstance(node, dict):
        return []
    found = [one for each in node.values() for one in dangling(each, document)]
    if isinstance(reference := node.get("$ref"), str):
        place = document
        for part in reference.removeprefix("#/").split("/"):
            place = place.get(part, {})
        found += [] if place else [reference]
    return found


@run
async def test_document_has_every_path_and_the_releases_fields():
    async with (
        FakeServer().running() as on,
        FakeServer().running() as off,
        front({ON: on, OFF: off}) as there,
    ):
        document = (await there.client.get("/openapi.json")).json()
        assert dangling(document, document) == []
        for path, operations in document["paths"].items():
            for method in operations:
                url = path.replace("{model}", "tiny-on")
                answer = await there.client.request(method, url)
                assert answer.status_code not in (404, 405), path
        post = document["paths"]["/v1/completions"]["post"]
        body = post["requestBody"]["content"]["application/json"]["schema"]
        assert {"min_tokens", "speculation", "top_p_min"} <= set(body["properties"])
        assert "messages" not in body["properties"]
        jsonschema.validate(asking(), body)
        assert body["properties"]["model"]["enum"] == ["tiny-on", "tiny-off"]
        answer = await there.post()
        assert str(answer.status_code) in post["responses"]
        shown = set(post["responses"]["200"]["headers"])
        assert {name for name in answer.headers if "trtspec" in name} <= shown
        refused = await there.post(model="x")
        schema = document["components"]["schemas"]["ErrorDocument"]
        jsonschema.validate(refused.json(), schema)
        cards = await there.client.get("/v1/models")
        listed = document["components"]["schemas"]["ModelList"]
        jsonschema.validate(cards.json(), listed)
        assert json.dumps(document)
