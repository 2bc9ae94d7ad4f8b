"""The question's form: three fields for a first try, the rest with defaults."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils import timezone

from jobs.asking.choices import DEPTHS, DTYPES, FIRST_STRATEGIES, STRATEGIES, WEIGHTS
from jobs.asking.fields import NO_BOUND, AmountField, CountField, QualityBoundField, SizeField, said
from jobs.asking.model_named import spec_of
from jobs.asking.prompts import PromptsField
from jobs.models import PromptSet, Worker, Workload
from jobs.procedure.defaults import MAX_KL, typical_prompt_tokens
from jobs.procedure.question import Depth, Question
from jobs.procedure.verified import doubt
from jobs.selectors.prompt_set import prompt_sets_list
from jobs.selectors.worker import devices_for_form
from jobs.selectors.workload import workloads_offered
from jobs.sizing.budgets import weights_bytes
from jobs.sizing.model_spec import ModelKind
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.stored import AS_STORED, stays_packed, with_weights
from jobs.sizing.strategy import BASELINE, Strategy
from jobs.sizing.units import bytes_text

MOST_TOKENS = 10_000_000
MOST_SEQUENCES = 4096
MOST_STRATEGIES = 12
WORKLOAD_FIELDS = {
    "prompts",
    "prompts_file",
    "workload",
    "workload_name",
    "typical_prompt_tokens",
    "sequences",
    "revision",
    "name",
}


class QuestionForm(forms.Form):
    model = forms.CharField(
        label="Model",
        max_length=300,
        help_text="A built-in architecture, a folder below the models folder, or a Hub id such as org/name.",
        error_messages={"required": "Name a model."},
        widget=forms.TextInput(attrs={"list": "models", "autocomplete": "off", "spellcheck": "false"}),
    )
    prompt_tokens = CountField(label="Longest prompt", most=MOST_TOKENS, required=False)
    answer_tokens = CountField(label="Answer", most=MOST_TOKENS, required=False)
    revision = forms.CharField(
        label="Revision",
        max_length=120,
        required=False,
        help_text="Of a Hub model: a branch, a tag or a commit. Blank is its main branch.",
    )
    workload = forms.ModelChoiceField(
        label="Saved workload",
        queryset=Workload.objects.none(),
        required=False,
        empty_label="the lengths in this form",
        help_text="Its lengths, and its prompts if it has any, are used in place of those given here.",
        error_messages={"invalid_choice": "That workload is gone; choose another."},
    )
    prompts = forms.ModelChoiceField(
        label="Prompts",
        queryset=PromptSet.objects.none(),
        required=False,
        empty_label="random tokens",
        help_text="Your team’s own, kept for all members; or random tokens of exactly the lengths asked for.",
        error_messages={"invalid_choice": "Those prompts were deleted; choose others."},
    )
    prompts_file = PromptsField(
        label="A file of prompts",
        required=False,
        help_text="One prompt a line: text, a JSON string, or an object with prompt, text or messages. At most 8 MiB "
        "and 10,000 lines, in UTF-8.",
    )
    typical_prompt_tokens = CountField(
        label="Typical prompt", most=MOST_TOKENS, required=False, help_text="Blank is a quarter of the longest."
    )
    sequences = CountField(
        label="Sequences at once", most=MOST_SEQUENCES, unit="sequences", required=False, help_text="Blank is one."
    )
    workload_name = forms.CharField(
        label="Save these lengths as",
        max_length=80,
        required=False,
        help_text="To use them, and the prompts, with other models.",
    )
    dtype = forms.ChoiceField(
        label="Precision",
        choices=DTYPES,
        required=False,
        error_messages={"invalid_choice": "Choose one of bfloat16, float16 and float32."},
    )
    weights = forms.ChoiceField(
        label="Weights",
        choices=WEIGHTS,
        required=False,
        help_text="As in the model’s files, or packed while they are loaded; the KV cache is not packed.",
        error_messages={"invalid_choice": "Choose as stored, 4 bits or 8 bits."},
    )
    worker = forms.ModelChoiceField(
        label="Device",
        queryset=Worker.objects.none(),
        required=False,
        empty_label=None,
        error_messages={"invalid_choice": "That device’s worker is gone; choose another."},
    )
    capacity = SizeField(
        label="Capacity",
        required=False,
        help_text="What the run may use, such as 24GiB or 300MiB. Blank is all of the device.",
    )
    headroom_percent = AmountField(
        label="Headroom",
        least=0,
        most=90,
        zero=True,
        unit="percent",
        required=False,
        help_text="Kept free; blank is 10.",
    )
    min_speed = AmountField(
        label="Minimum speed", most=100_000, unit="tokens/s", required=False, help_text="Of one sequence’s answer."
    )
    max_ttft = AmountField(
        label="Latest first token", most=86_400, unit="seconds", required=False, help_text="After the prompt is sent."
    )
    max_kl = QualityBoundField(
        label="Quality bound",
        required=False,
        help_text="How far a quantized cache’s probabilities for the next token may be from the normal cache’s on the "
        "same text, as mean KL divergence: 0 is no difference, above about 1 the answers are another model’s. Blank is "
        f"{MAX_KL:g}, which 4 bits usually keep and 2 bits do not; write none for no bound.",
    )
    strategies = forms.MultipleChoiceField(
        label="Strategies to try",
        choices=[(name, label) for name, label, _ in STRATEGIES],
        required=False,
        error_messages={"invalid_choice": "“%(value)s” is not a cache strategy."},
    )
    more_strategies = forms.CharField(
        label="More strategies",
        max_length=300,
        required=False,
        help_text="Names as on the command line, separated by commas, such as quantized:hqq:4+chunked:256.",
    )
    compare_anyway = forms.BooleanField(label="Compare even if the normal cache fits", required=False)
    depth = forms.ChoiceField(
        label="Depth",
        choices=[(value, label) for value, label, _ in DEPTHS],
        required=False,
        error_messages={"invalid_choice": "Choose quick or full."},
    )
    name = forms.CharField(
        label="Name", max_length=120, required=False, help_text="Blank is the model and its workload."
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.devices = devices_for_form()
        self.choose("workload").queryset = workloads_offered()
        self.choose("prompts").queryset = prompt_sets_list()
        device = self.choose("worker")
        device.queryset = Worker.objects.all()
        device.choices = [(worker.pk, device_label(worker)) for worker in self.devices]
        for name, field in self.fields.items():
            field.widget.attrs.update(self._described(name, field))

    def as_sent(self) -> "QuestionForm":
        """This form, or, before anything was sent, one as it would be if it were sent as it stands."""
        if self.is_bound:
            return self
        return type(self)({name: value for name, value in self.initial.items() if value is not None})

    def for_estimate(self) -> "EstimateForm":
        """As it stands, or as it would be sent."""
        return EstimateForm(self.as_sent().data)

    def choose(self, name: str) -> "forms.ModelChoiceField[Any]":
        field = self.fields[name]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 (declared so above)
        return field

    def clean_more_strategies(self) -> tuple[Strategy, ...]:
        names = [name for name in self.cleaned_data["more_strategies"].split(",") if name.strip()]
        try:
            return tuple(Strategy.parse(name) for name in names)
        except Refusal as refusal:
            raise ValidationError(said(refusal), code=refusal.code) from refusal

    def clean_worker(self) -> Worker:
        worker = self.cleaned_data["worker"] or next(iter(self.devices), None)
        if worker is None:
            raise ValidationError("No worker has connected yet: start one with make run, then send this again.")
        if not worker.is_alive(timezone.now()):
            raise ValidationError(f"The worker of {worker.device_name} is silent: start it again or choose another.")
        return worker

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        self._model(cleaned)
        self._take_workload(cleaned)
        if "typical_prompt_tokens" in cleaned and cleaned.get("prompt_tokens"):
            self._typical(cleaned)
        self._fill(cleaned)
        self._capacity(cleaned)
        self._strategies(cleaned)
        return cleaned

    def _model(self, cleaned: dict[str, Any]) -> None:
        """What can be seen to be no model without inspecting it."""
        if not {"model", "revision"} <= cleaned.keys():
            return
        try:
            spec = spec_of(cleaned["model"], cleaned["revision"])
            if cleaned["revision"] and spec.kind is not ModelKind.HUB:
                self.add_error("revision", "Only a Hub model has revisions: leave this blank.")
        except Refusal as refusal:
            field = "revision" if refusal.code == "bad_revision" else "model"
            self.add_error(field, ValidationError(said(refusal), code=refusal.code))

    def _take_workload(self, cleaned: dict[str, Any]) -> None:
        """A saved workload's lengths go before typed ones; without either a length is missing."""
        workload = cleaned.get("workload")
        for name, missing in {"prompt_tokens": "longest prompt", "answer_tokens": "answer"}.items():
            if workload:
                cleaned[name] = getattr(workload, name)
                self.errors.pop(name, None)
            elif name in cleaned and cleaned[name] is None:
                self.add_error(name, f"Say how many tokens the {missing} has.")
        if workload:
            cleaned["typical_prompt_tokens"] = workload.typical_prompt_tokens
            cleaned["sequences"] = workload.sequences
            cleaned["prompts"] = cleaned.get("prompts") or workload.prompts

    def _typical(self, cleaned: dict[str, Any]) -> None:
        longest, typical = cleaned["prompt_tokens"], cleaned["typical_prompt_tokens"]
        if typical is None:
            cleaned["typical_prompt_tokens"] = typical_prompt_tokens(longest)
        elif typical > longest:
            self.add_error(
                "typical_prompt_tokens", f"The typical prompt cannot exceed the longest, {longest:,} tokens."
            )

    def _fill(self, cleaned: dict[str, Any]) -> None:
        """What a blank stands for."""
        defaults: dict[str, Any] = {
            "sequences": 1,
            "headroom_percent": 10.0,
            "dtype": "bfloat16",
            "weights": AS_STORED,
            "depth": "quick",
        }
        for name, value in defaults.items():
            if name in cleaned and cleaned[name] in (None, ""):
                cleaned[name] = value

    def _capacity(self, cleaned: dict[str, Any]) -> None:
        capacity, worker = cleaned.get("capacity"), cleaned.get("worker")
        if capacity and worker and worker.capacity_bytes and capacity > worker.capacity_bytes:
            whole = bytes_text(worker.capacity_bytes)
            self.add_error("capacity", f"{worker.device_name} has {whole}: ask for that or less.")

    def _strategies(self, cleaned: dict[str, Any]) -> None:
        chosen = [Strategy.parse(name) for name in cleaned.get("strategies", [])]
        every = dict.fromkeys(s for s in (*chosen, *cleaned.get("more_strategies", ())) if s != BASELINE)
        if len(every) > MOST_STRATEGIES:
            self.add_error("more_strategies", f"Try at most {MOST_STRATEGIES} strategies in one run.")
        cleaned["every_strategy"] = tuple(every)

    def check_record(self, record: InspectionRecord) -> None:
        """What only the inspected model can refuse, each beside its field."""
        for name, sentence in self.refused_by(record).items():
            self.add_error(name, sentence)

    def refused_by(self, record: InspectionRecord) -> dict[str, str]:
        """By field, of a form that is valid: the model's own maximum, weights that are not packed (again), and weights
        larger than the capacity."""
        cleaned = self.cleaned_data
        refused = {}
        try:
            record = with_weights(record, cleaned["weights"])
        except Refusal as refusal:
            refused["weights"] = said(refusal)
        context = cleaned["prompt_tokens"] + cleaned["answer_tokens"]
        if record.native_context and context > record.native_context:
            refused["prompt_tokens"] = (
                f"{cleaned['model']} reads at most {record.native_context:,} tokens; this prompt and answer are "
                f"{context:,}. {shorter(record.native_context, cleaned['answer_tokens'])}"
            )
        weights = _weights_bytes(record, cleaned["dtype"], cleaned["worker"].device)
        capacity_bytes = cleaned["capacity"] or cleaned["worker"].capacity_bytes
        if weights and capacity_bytes and weights >= capacity_bytes:
            refused["capacity"] = (
                f"The weights alone take {bytes_text(weights)} {_weights_basis(cleaned)}, which leaves nothing of "
                f"{bytes_text(capacity_bytes)}. Raise the capacity, or choose a smaller model."
            )
        return refused

    def question(self, model: str) -> Question:
        """What was asked, of a form that is valid."""
        cleaned = self.cleaned_data
        return Question(
            model=model,
            prompt_tokens=cleaned["prompt_tokens"],
            typical_prompt_tokens=cleaned["typical_prompt_tokens"],
            answer_tokens=cleaned["answer_tokens"],
            sequences=cleaned["sequences"],
            dtype=cleaned["dtype"],
            weights=cleaned["weights"],
            device=cleaned["worker"].device,
            capacity_bytes=cleaned["capacity"],
            headroom_percent=cleaned["headroom_percent"],
            min_decode_tokens_per_s=cleaned["min_speed"],
            max_ttft_s=cleaned["max_ttft"],
            max_kl=cleaned["max_kl"],
            strategies=cleaned["every_strategy"],
            compare_anyway=cleaned["compare_anyway"],
            depth=Depth(cleaned["depth"]),
            prompts_sha256=cleaned["prompts"].sha256 if cleaned["prompts"] else None,
        )

    def _described(self, name: str, field: forms.Field) -> dict[str, str]:
        """Errors and hints belong to their field for a screen reader too."""
        parts = [f"id_{name}_helptext"] if field.help_text else []
        if self.is_bound and name in self.errors:
            return {"aria-invalid": "true", "aria-describedby": " ".join([f"id_{name}_error", *parts])}
        return {"aria-describedby": parts[0]} if parts else {}

    @property
    def faulty(self) -> list[BoundField]:
        """The fields that need another value, in the form's own order."""
        return [self[name] for name in self.fields if name in self.errors]

    @property
    def device_text(self) -> str:
        """The device chosen, else the one that a blank stands for."""
        chosen = str(self["worker"].value() or "")
        found = next((worker for worker in self.devices if str(worker.pk) == chosen), None)
        worker = found or next(iter(self.devices), None)
        return device_label(worker) if worker else ""

    @property
    def folded_errors(self) -> bool:
        """Whether the part with device, bounds and strategies must open to show what was refused."""
        return bool(
            set(self.errors)
            - {"model", "more_models", "prompt_tokens", "answer_tokens", "depth", "__all__"}
            - WORKLOAD_FIELDS
        )

    @property
    def workload_errors(self) -> bool:
        """The same for the part with the workload."""
        return bool(set(self.errors) & WORKLOAD_FIELDS)


class EstimateForm(QuestionForm):
    """Sizing needs no device: a capacity may be larger than the connected one's."""

    def _capacity(self, cleaned: dict[str, Any]) -> None:
        """Any will do."""


def first_question() -> dict[str, Any]:
    """What an empty form starts with."""
    return {
        "prompt_tokens": "4096",
        "answer_tokens": "256",
        "headroom_percent": "10",
        "max_kl": f"{MAX_KL:g}",
        "strategies": FIRST_STRATEGIES,
        "depth": "quick",
        "dtype": "bfloat16",
        "weights": AS_STORED,
    }


def like(question: Mapping[str, Any], *, model: str, revision: str, worker_id: int | None) -> dict[str, Any]:
    """A form's values for the question of a profile. A typical prompt that follows from the longest is left blank, so
    that it follows another one too."""
    boxes = {name for name, _, _ in STRATEGIES}
    longest, typical = question["prompt_tokens"], question["typical_prompt_tokens"]
    return {
        "model": model,
        "revision": revision,
        "prompt_tokens": longest,
        "answer_tokens": question["answer_tokens"],
        "typical_prompt_tokens": None if typical == typical_prompt_tokens(longest) else typical,
        "sequences": question["sequences"],
        "dtype": question["dtype"],
        "weights": question.get("weights", AS_STORED),
        "worker": worker_id,
        "capacity": question["capacity_bytes"],
        "headroom_percent": f"{question['headroom_percent']:g}",
        "min_speed": _blank(question["min_decode_tokens_per_s"]),
        "max_ttft": _blank(question["max_ttft_s"]),
        "max_kl": NO_BOUND if question.get("max_kl") is None else f"{question['max_kl']:g}",
        "strategies": [name for name in question["strategies"] if name in boxes],
        "more_strategies": ", ".join(name for name in question["strategies"] if name not in boxes),
        "compare_anyway": question["compare_anyway"],
        "depth": question["depth"],
    }


def _blank(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def shorter(native_context: int, answer_tokens: int) -> str:
    """What to ask for instead of more than the model reads."""
    left = native_context - answer_tokens
    return f"Ask for a prompt of at most {left:,}." if left > 0 else "Shorten the answer too."


def _weights_bytes(record: InspectionRecord, dtype: str, device: str) -> int | None:
    """As a run on this device will load them; None in a precision that was not inspected yet."""
    try:
        return weights_bytes(record, dtype, as_stored=stays_packed(record, device))
    except Refusal:
        return None


def _weights_basis(cleaned: Mapping[str, Any]) -> str:
    if cleaned["weights"] == AS_STORED:
        return f"in {cleaned['dtype']}"
    return f"packed in {dict(WEIGHTS)[cleaned['weights']]}"


def device_label(worker: Worker) -> str:
    silent = "" if worker.is_alive(timezone.now()) else ", silent"
    size = f", {bytes_text(worker.capacity_bytes)}" if worker.capacity_bytes else ""
    doubted = f"; {doubt(worker.device)}" if doubt(worker.device) else ""
    return f"{worker.device_name} ({worker.device}{size}{silent}{doubted})"
