"""A checkpoint's promise of MTP layers is held against the tensors that it ships."""

import json

import pytest
from draftproof.errors import UserError
from draftproof.evals.probing import checkpoint as checkpoint_module
from draftproof.evals.probing.check import Verdict
from draftproof.evals.probing.checkpoint import read_checkpoint

OK, IGNORED, UNKNOWN, WRONG = Verdict.OK, Verdict.IGNORED, Verdict.UNKNOWN, Verdict.WRONG
PLAIN = ["model.embed_tokens.weight", "model.layers.0.mlp.weight", "model.layers.1.mlp.weight"]
QWEN_MTP = ["mtp.fc.weight", "mtp.layers.0.mlp.weight"]
MIMO_MTP = ["model.mtp_layers.0.input_proj.weight", "model.mtp_layers.0.mlp.up_proj.weight"]
ERNIE_MTP = ["model.mtp_block.0.mlp.weight", "model.mtp_linear_proj.0.weight"]
DEEPSEEK_MTP = ["model.layers.2.eh_proj.weight", "model.layers.2.enorm.weight"]


def header(names):
    tensors = {name: {"dtype": "BF16", "shape": [0], "data_offsets": [0, 0]} for name in names}
    text = json.dumps({"__metadata__": {"format": "pt"}, **tensors}).encode()
    return len(text).to_bytes(8, "little") + text


def write(folder, config, names=None, *, single=False):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if names is not None and single:
        (folder / "model.safetensors").write_bytes(header(names))
    elif names is not None:
        index = {"metadata": {}, "weight_map": dict.fromkeys(names, "model-00001.safetensors")}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    ("config", "names", "declared", "tensors", "verdict"),
    [
        ({}, PLAIN, None, 0, OK),
        ({"mtp_num_hidden_layers": 0}, PLAIN, 0, 0, OK),
        ({"mtp_num_hidden_layers": 1}, PLAIN + QWEN_MTP, 1, 2, OK),
        ({"mtp_num_hidden_layers": 1}, PLAIN, 1, 0, WRONG),
        ({"num_nextn_predict_layers": 1}, PLAIN + DEEPSEEK_MTP, 1, 2, OK),
        ({"num_nextn_predict_layers": 1}, PLAIN + MIMO_MTP, 1, 2, OK),
        ({"num_nextn_predict_layers": 1}, PLAIN + ERNIE_MTP, 1, 2, OK),
        ({"num_nextn_predict_layers": 1}, PLAIN, 1, 0, WRONG),
        ({"num_nextn_predict_layers": None}, PLAIN, None, 0, OK),
        ({}, PLAIN + QWEN_MTP, None, 2, IGNORED),
        ({}, [*PLAIN, "visual.layers.30.attn.weight", "vision_tower.layers.9.weight"], None, 0, OK),
        ({"mtp_num_hidden_layers": 1}, None, 1, None, UNKNOWN),
    ],
)
def test_declared_layers_and_shipped_tensors(tmp_path, config, names, declared, tensors, verdict, single):
    """By the index and by the header of a single file alike."""
    found = read_checkpoint(write(tmp_path, {"num_hidden_layers": 2, **config}, names, single=single))
    assert (found.declared, found.tensors, found.check().verdict) == (declared, tensors, verdict)


def test_the_configuration_may_be_nested(tmp_path):
    """Models that also see keep it in `text_config`."""
    inner = {"num_hidden_layers": 2, "mtp_num_hidden_layers": 1}
    found = read_checkpoint(write(tmp_path, {"text_config": inner}, PLAIN + QWEN_MTP))
    assert (found.layers, found.declared, found.check().verdict) == (2, 1, OK)
    assert read_checkpoint(write(tmp_path, {"text_config": 7}, PLAIN)).declared is None


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", b"{", "not JSON"),
        ("config.json", b"[" * 100_000, "not JSON"),
        ("config.json", b"\xff\xfe", "not JSON"),
        ("config.json", b"[]", "expected a JSON object"),
        ("config.json", b'{"num_hidden_layers": "many"}', "num_hidden_layers: expected a count"),
        ("config.json", b'{"mtp_num_hidden_layers": true}', "mtp_num_hidden_layers: expected a count"),
        ("config.json", b'{"mtp_num_hidden_layers": -1}', "mtp_num_hidden_layers: expected a count"),
        ("model.safetensors.index.json", b'{"weight_map": []}', "weight_map: expected an object"),
        ("model.safetensors.index.json", b"7", "expected a JSON object"),
        ("model.safetensors", b"", "not a safetensors file"),
        ("model.safetensors", b"\xff" * 8, "not a safetensors file"),
        ("model.safetensors", (2**40).to_bytes(8, "little") + b"{}", "not a safetensors file"),
        ("model.safetensors", (9).to_bytes(8, "little") + b"{}", "not a safetensors file"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"[]", "expected a JSON object"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"\x00\x00", "not JSON"),
    ],
)
def test_a_hostile_file_is_one_clear_error(tmp_path, name, content, words):
    """With the file in front; nothing is read past what the format allows."""
    write(tmp_path, {"num_hidden_layers": 2})
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=words) as caught:
        read_checkpoint(tmp_path)
    assert caught.value.what.startswith(str(tmp_path / name))
    assert caught.value.exit_code == 2


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    """The bound is said."""
    monkeypatch.setattr(checkpoint_module, "MAX_JSON_BYTES", 10)
    with pytest.raises(UserError, match="expected at most 10"):
        read_checkpoint(write(tmp_path, {"num_hidden_layers": 2}))


def test_a_folder_without_a_checkpoint_is_bad_input(tmp_path):
    """No folder, or no config.json in it."""
    with pytest.raises(UserError, match="no such folder"):
        read_checkpoint(tmp_path / "gone")
    with pytest.raises(UserError, match=r"config\.json: no such file"):
        read_checkpoint(tmp_path)
