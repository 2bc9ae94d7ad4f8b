"""What the Hub refuses is refused by its right name, quickly, by the real measuring process."""

import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from safetensors.torch import save

from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from tests.measuring.fake_hub import GRANTED, STRANGER, WRONG, FakeHub, config, fake_hub
from tests.measuring.test_stored_files import LLAMA, weights

BOUND_S = 30.0
FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
MODELS = {
    "fine/model": config(**LLAMA),
    "fine/packed": config(**LLAMA, quantization_config=FP8) | {"model.safetensors": save(weights())},
    "fine/half": config(**LLAMA, quantization_config=FP8),
    "fine/no-config": {"README.md": b"# nothing"},
    "fine/truncated": {"config.json": b'{"model_type": "lla'},
    "fine/own-code": config(model_type="house", auto_map={"AutoConfig": "house.Config"}),
    "gated/model": config(**LLAMA),
    "private/model": config(**LLAMA),
    "slow/model": config(**LLAMA),
}


class Asked:
    """A measuring process whose Hub is the fake one; its token is what the token file holds at each request."""

    def __init__(self, hub: FakeHub, folder: Path) -> None:
        self.hub = hub
        self.token = folder / "token"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        self.environment = environment | {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(folder / "home"),
            "HF_TOKEN_PATH": str(self.token),
            "OMP_NUM_THREADS": "1",
        }
        self.process = MeasuringProcess(environment=self.environment)

    def inspect(self, name: str, *, token: str = "", revision: str | None = None) -> InspectionRecord:
        self.token.write_text(token)
        spec = ModelSpec(kind=ModelKind.HUB, name=name, revision=revision)
        fields: dict[str, Any] = {"dtypes": ["bfloat16"], "sequences": [1], "tokens": [16], "strategies": ["default"]}
        data = self.process.request("inspect", patience_s=300, model=spec.as_json(), attention="sdpa", **fields)
        return InspectionRecord.from_json(data)

    def refusal(self, name: str, *, token: str = "", revision: str | None = None) -> Refusal:
        with pytest.raises(Refusal) as refused:
            self.inspect(name, token=token, revision=revision)
        assert refused.value.message
        assert refused.value.hint
        return refused.value


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with fake_hub(MODELS) as hub:
        one = Asked(hub, tmp_path_factory.mktemp("hub"))
        with one.process:
            yield one


@pytest.mark.parametrize(
    ("name", "token", "revision", "code", "says"),
    [
        ("gated/model", "", None, "gated", "no token"),
        ("gated/model", STRANGER, None, "gated", "has no access"),
        ("missing/model", "", None, "model_not_found", "without a token a private one looks the same"),
        ("missing/model", STRANGER, None, "model_not_found", "that this worker's token may see"),
        ("private/model", "", None, "model_not_found", "without a token a private one looks the same"),
        ("private/model", STRANGER, None, "model_not_found", "that this worker's token may see"),
        ("fine/model", WRONG, None, "bad_token", "refuses this worker's token"),
        ("gated/model", WRONG, None, "bad_token", "refuses this worker's token"),
        ("forbidden/model", STRANGER, None, "bad_token", "does not let this worker read"),
        ("fine/model", "", "no-such-branch", "bad_revision", "no-such-branch"),
        ("fine/no-config", "", None, "no_config", "config.json"),
        ("fine/truncated", "", None, "broken_config", "JSON"),
        ("fine/own-code", "", None, "needs_remote_code", "not run here"),
        ("down/model", "", None, "hub_failed", "503"),
        ("busy/model", "", None, "hub_failed", "429"),
    ],
)
def test_each_refusal_of_the_hub_has_its_own_name(
    asked: Asked, name: str, token: str, revision: str | None, code: str, says: str
) -> None:
    began_s = monotonic()
    refusal = asked.refusal(name, token=token, revision=revision)
    assert (refusal.code, says in refusal.message) == (code, True), refusal.as_json()
    assert monotonic() - began_s < BOUND_S


def test_a_token_that_has_access_opens_a_gated_and_a_private_model_and_a_kept_config_stays_readable(
    asked: Asked,
) -> None:
    found = asked.inspect("private/model", token=GRANTED)
    assert (found.model_type, found.versions["commit"]) == ("llama", asked.hub.commit)
    assert asked.inspect("gated/model", token=GRANTED).model == "gated/model"
    assert asked.inspect("gated/model", token="").model == "gated/model"


def test_the_hub_tells_how_packed_weights_are_stored_by_their_headers_alone(asked: Asked) -> None:
    stored = asked.inspect("fine/packed").stored
    assert stored is not None
    assert (stored.source, stored.file_bytes) == ("safetensors", sum(tensor.nbytes for tensor in weights().values()))
    assert stored.device_bytes["bfloat16"] < stored.file_bytes
    assert not asked.inspect("fine/model").random_weights
    half = asked.inspect("fine/half").stored
    assert half is not None
    assert (half.source, half.file_bytes) == ("quantization_config", None)
    assert half.device_bytes == stored.device_bytes


def test_a_hub_that_never_answers_is_given_up_within_seconds(asked: Asked) -> None:
    began_s = monotonic()
    assert asked.refusal("slow/model").code == "offline"
    assert monotonic() - began_s < BOUND_S
    asked.hub.hang.set()


def test_without_a_network_what_was_fetched_is_found_and_the_rest_is_offline(asked: Asked) -> None:
    offline = MeasuringProcess(environment=asked.environment | {"HF_HUB_OFFLINE": "1"})
    online, asked.process = asked.process, offline
    try:
        with offline:
            assert "HF_HUB_OFFLINE" in asked.refusal("fine/unheard-of").message
            assert asked.inspect("fine/model").model_type == "llama"
            with pytest.raises(Refusal) as refused:
                offline.request(
                    "load",
                    patience_s=300,
                    model=ModelSpec(kind=ModelKind.HUB, name="fine/unheard-of").as_json(),
                    dtype="bfloat16",
                    device="cpu",
                    attention="sdpa",
                )
            assert refused.value.code == "offline"
    finally:
        asked.process = online


def test_what_answers_as_no_hub_does_and_a_hub_that_is_gone_are_told_apart(asked: Asked) -> None:
    """The last one: afterwards the fake Hub is gone."""
    asked.hub.commit = ""
    asked.hub.models["fine/new"] = config(**LLAMA)
    assert asked.refusal("fine/new").code == "hub_failed"
    asked.hub.stop()
    assert asked.refusal("fine/new").code == "offline"
    assert asked.inspect("fine/model").model_type == "llama"
