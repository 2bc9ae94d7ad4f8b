"""What each request of the protocol does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from jobs.measuring.applicable import families
from jobs.measuring.config_hash import config_hash
from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_cards import CudaCards
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.devices import device as device_called
from jobs.measuring.environment import environment
from jobs.measuring.fetching import fetch
from jobs.measuring.held import StillHeld, release
from jobs.measuring.loading import LoadedModel, load_model, refuse_unloadable_model
from jobs.measuring.measure import Measurer
from jobs.measuring.own_heap import in_own_heap
from jobs.measuring.prompts import TeamPrompts
from jobs.measuring.protocol import Answers
from jobs.measuring.quality import Scorer
from jobs.measuring.quanto_kernels import why_not_quanto
from jobs.measuring.reading_bound import bounded_reading
from jobs.measuring.tokenizing import Tokenized, tokenized
from jobs.measuring.weights import parameters
from jobs.procedure.measurement import Ask, Loaded
from jobs.procedure.quality import QualityAsk
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED
from jobs.sizing.strategy import Strategy

if TYPE_CHECKING:
    from jobs.measuring.inspect import Inspection

Request = Mapping[str, Any]


class Requests:
    """Holds the loaded model between requests. `do` answers True when the process must end.

    texts: the team's own prompts that the model was loaded with; none where random tokens are measured.
    """

    def __init__(self, answers: Answers, cards: CudaCards) -> None:
        self._answers = answers
        self._cards = cards
        self.texts: tuple[str, ...] = ()
        self._measurer: Measurer | None = None
        self._scorer: Scorer | None = None
        self._inspection: Inspection | None = None
        self._acts: dict[str, Callable[[Request], bool]] = {
            "fetch": self._fetch,
            "inspect": self._inspect,
            "load": self._load,
            "measure": self._measure,
            "quality": self._quality,
            "tokenize": self._tokenize,
            "warm": self._warm,
            "quit": lambda _request: True,
        }

    def do(self, request: Request) -> bool:
        """Raises Refusal for what cannot be answered."""
        act = self._acts.get(str(request.get("do")))
        if act is None:
            raise Refusal("bad_request", "The measuring process does not know this request.")
        return act(request)

    def _inspect(self, request: Request) -> bool:
        with bounded_reading(str(request["model"]["name"])):
            record = self._inspection_of(request).record(
                dtypes=tuple(request["dtypes"]),
                sequences=tuple(request["sequences"]),
                tokens=tuple(request["tokens"]),
                strategies=tuple(request["strategies"]),
                padded=tuple(request.get("padded", [False])),
                tell=self._answers.tell,
            )
        self._answers.result(record.as_json())
        return False

    def _inspection_of(self, request: Request) -> "Inspection":
        """The model that the last inspection built, where this one is of the same."""
        from jobs.measuring.inspect import Inspection

        spec, attention = ModelSpec.from_json(request["model"]), str(request["attention"])
        if self._inspection is None or not self._inspection.is_of(spec, attention):
            self._inspection = None
            self._inspection = Inspection(spec, attention=attention, tell=self._answers.tell)
        return self._inspection

    def _fetch(self, request: Request) -> bool:
        fetched = fetch(
            ModelSpec.from_json(request["model"]),
            tell=self._answers.tell,
            check=partial(refuse_unloadable_model, weights=request["weights"], device=request["device"]),
        )
        self._answers.result(asdict(fetched))
        return False

    def _load(self, request: Request) -> bool:
        spec = ModelSpec.from_json(request["model"])
        device = device_called(request["device"])
        if device is None:
            raise Refusal(
                "load_failed", f"There is no device “{request['device']}” here.", "Choose one that is listed."
            )
        self._measurer = self._scorer = self._inspection = None
        release()
        prompts = request.get("prompts") or {}
        self.texts = tuple(prompts.get("texts", ()))
        own = self._tokenized(spec, self.texts) if self.texts else None
        loaded = load_model(
            spec,
            dtype=request["dtype"],
            device="cpu" if device["kind"] == "cpu" else self._open(device, request["dtype"]),
            attention=request["attention"],
            weights=request.get("weights", AS_STORED),
            tell=self._answers.tell,
        )
        team = TeamPrompts(loaded.model.config, own.ids, file_sha256=prompts["sha256"]) if own else None
        memory = self._memory(loaded)
        self._measurer = Measurer(loaded, memory, team)
        self._scorer = Scorer(loaded, memory, spec, texts=self.texts, first_use=self._measurer.first_use)
        about = {"prompts": own.told | {"sha256": prompts["sha256"]}} if own else {}
        about |= {} if loaded.device == "cpu" else self._cards.environment(device)
        self._answers.result(asdict(_loaded(loaded, device, spec, about)))
        return False

    def _tokenize(self, request: Request) -> bool:
        self._answers.result(self._tokenized(ModelSpec.from_json(request["model"]), request["prompts"]).told)
        return False

    def _tokenized(self, spec: ModelSpec, texts: Sequence[str]) -> Tokenized:
        return in_own_heap(lambda: tokenized(spec, texts, tell=self._answers.tell))

    def _measure(self, request: Request) -> bool:
        if self._measurer is None or self._scorer is None:
            raise Refusal("load_failed", "No model is loaded.", "Load one first.")
        self._scorer.forget()
        known = {name: request[name] for name in Ask.__dataclass_fields__ if name in request}
        ask = Ask(**known | {"strategy": Strategy.parse(request["strategy"])})
        try:
            done = self._measurer.measure(ask, enforce=bool(request.get("enforce", True)), tell=self._answers.tell)
        except StillHeld as held:
            self._answers.result({"leaked_bytes": held.leaked_bytes}, restart=True)
            return True
        self._answers.result(done.measurement.as_json(), restart=done.restart)
        return done.restart

    def _quality(self, request: Request) -> bool:
        if self._scorer is None:
            raise Refusal("load_failed", "No model is loaded.", "Load one first.")
        known = {name: request[name] for name in QualityAsk.__dataclass_fields__ if name in request}
        ask = QualityAsk(**known | {"strategy": Strategy.parse(request["strategy"])})
        scored = self._scorer.score(ask, tell=self._answers.tell)
        self._answers.result(scored.quality.as_json(), restart=scored.restart)
        return scored.restart

    def _warm(self, request: Request) -> bool:
        self._answers.tell("Compiling quanto's kernels: up to 90 s, once.")
        device = str(request.get("device", "cpu"))
        self._answers.result({"quanto": why_not_quanto() or True, "applicable": families(device=device)})
        return False

    def _open(self, device: Mapping[str, Any], dtype: str) -> str:
        """torch's names of the device's cards, once they are free."""
        return self._cards.open(device, dtype=dtype, tell=self._answers.tell)

    def _memory(self, loaded: LoadedModel) -> CpuMemory | CudaMemory:
        if loaded.device == "cpu":
            return CpuMemory(weights_bytes=loaded.weights_bytes)
        return self._cards.memory(loaded.model)


def _loaded(loaded: LoadedModel, device: Mapping[str, Any], spec: ModelSpec, about: dict[str, Any]) -> Loaded:
    return Loaded(
        weights_bytes=loaded.weights_bytes,
        parameters=parameters(loaded.model),
        load_s=loaded.load_s,
        random_weights=loaded.random_weights,
        device={**device, "enforced": True},  # both memories hold each measured pass to the capacity
        environment=environment(
            device=device,
            dtype=loaded.dtype,
            attention=loaded.attention,
            revision=spec.revision,
            config_hash=config_hash(loaded.model.config),
        )
        | {"weights": loaded.weights}
        | ({"gguf_file": spec.gguf_file} if spec.gguf_file else {})
        | about,
    )
