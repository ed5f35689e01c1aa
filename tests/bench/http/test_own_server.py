"""``trtspec bench --url`` on a server of ours: one URL gives both arms."""

from __future__ import annotations

import json

from tests.verify.own_server import Toy, toy_server
from trtspec.bench import conditions
from trtspec.bench.http.address import API_KEY
from trtspec.cli.main import _run


def test_one_url_is_both_arms(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.delenv(API_KEY, raising=False)
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"id": f"p{i}", "prompt": f"w{i} w9"}) for i in range(2)]
    (tmp_path / "p.jsonl").write_text("\n".join(rows))
    toy = Toy()
    few = ("--output-tokens", "4", "--concurrency", "1", "--repeats", "1")
    with toy_server(toy) as server:
        code = _run(["bench", "--url", server.url, "--prompts", "p.jsonl", *few])
    assert code in (0, 6)  # so few prompts allow no claim
    shown = capsys.readouterr().out
    assert "acceptance rate" in shown
    assert "2/2 texts identical" in shown
    (run,) = (tmp_path / "runs").iterdir()
    result = json.loads((run / "result.json").read_text())
    arms = {arm["name"]: arm for arm in result["plan"]["arms"]}
    assert arms["off"]["speculation"] == {"method": "none"}
    assert arms["on"]["speculation"] == {"method": "ngram"}
    assert arms["on"]["endpoint"]["url"] == arms["off"]["endpoint"]["url"]
    asked = [body.get("speculation") for body in toy.bodies]
    assert asked.count({"enabled": False}) > asked.count(None) > 0  # off runs twice
