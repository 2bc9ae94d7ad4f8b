"""Story 4 over a scripted bench: a model whose cache a newer transformers keeps in a ninth of the bytes.

DeepSeek-V2-Lite's shape (27 layers, 16 heads of 192 + 128, a latent of 512 + 64), 8 sequences of 32,768 + 1,024 on
80 GB. The figures follow from the shape and are nobody's measurements.
"""

from dataclasses import dataclass, replace

from django.contrib.auth.models import User

from jobs.models import ModelEntry, Run, RunState, Worker
from jobs.procedure.measurement import Loaded
from jobs.procedure.question import Question
from jobs.procedure.run import answer
from jobs.services.claim import run_claim
from jobs.services.inspection import record_keep
from jobs.services.record import event_record, held_by
from jobs.services.run import run_submit
from jobs.services.run_state import run_move
from jobs.services.worker import worker_probed, worker_register
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind
from jobs.sizing.units import GIB
from tests.factories import make_entry
from tests.procedure.worlds import World, record

MODEL, HOST, DEVICE = "deepseek-ai/DeepSeek-V2-Lite", "rack-9", "cuda:0"
CARD = {"device": DEVICE, "kind": "cuda", "name": "NVIDIA A100-SXM4-80GB", "capacity_bytes": 79 * GIB, "uuid": "GPU-9"}
EXPANDED, LATENT = "5.23.0", "5.24.0"  # transformers that keep the heads, or what they are made from
SHAPES = {EXPANDED: (16, 192, 128), LATENT: (1, 512, 64)}
WEIGHTS_BYTES = 31_412_968_448


@dataclass(kw_only=True)
class A100World(World):
    versions: dict[str, str]

    def load(self) -> Loaded:
        return replace(super().load(), device=CARD | {"enforced": True}, environment=self.versions)


def read(transformers: str) -> InspectionRecord:
    """The model as this transformers keeps it: 276,480 or 31,104 bytes of KV cache a token."""
    heads, key_width, value_width = SHAPES[transformers]
    group = LayerGroup(kind=LayerKind.GROWING, count=27, heads=heads, key_width=key_width, value_width=value_width)
    return record(
        model=MODEL, layers=(group,), weights_bytes={"bfloat16": WEIGHTS_BYTES}, versions={"transformers": transformers}
    )


def upgrade(transformers: str = LATENT) -> int:
    """The worker starts with this transformers, as a real one does."""
    row = worker_register(device=DEVICE, kind="cuda", device_name="GPU 0", capacity_bytes=0, host=HOST)
    versions = {"transformers": transformers, "torch": "2.13.0", "cuda": "13.0", "driver": "580.65.06"}
    worker_probed(name=row.name, probe={"versions": versions, "devices": [CARD], "applicable": {"default": True}})
    return int(row.pk)


def begin(username: str) -> int:
    """The profile, with its first run answered in the older transformers."""
    worker = Worker.objects.get(pk=upgrade(EXPANDED))
    spec = ModelSpec(kind=ModelKind.HUB, name=MODEL)
    entry = ModelEntry.objects.filter(kind=str(spec.kind), name=MODEL).first() or make_entry(MODEL, inspected=False)
    record_keep(entry=entry, record=read(EXPANDED))
    asked = Question(
        model=MODEL,
        prompt_tokens=32_768,
        typical_prompt_tokens=8_192,
        answer_tokens=1_024,
        sequences=8,
        device=DEVICE,
    )
    user = User.objects.get(username=username)
    run = run_submit(user=user, name="Reasoning, eight at once", entry=entry, question=asked, worker=worker)
    return play(int(run.pk))


def play(run: int) -> int:
    """The worker takes what waits for it, which must be this run, and answers it; returns the run."""
    worker = Worker.objects.get(name=f"{HOST}:{DEVICE}")
    claim = run_claim(worker=worker)
    assert claim is not None
    assert claim.run_id == run
    row = Run.objects.select_related("model_entry").get(pk=run)
    found = record_keep(entry=row.model_entry, record=read(worker.versions["transformers"]))
    asked = Question.from_json(row.question)
    bench = A100World(asked=asked, record=found, versions=worker.versions, device_kind="cuda")
    for event in answer(asked, found, bench):
        event_record(run_id=run, lease=claim.lease, event=event)
    assert run_move(run_id=run, to=RunState.DONE, when=held_by(claim.lease), message="Done.")
    return run


def latest(profile: int) -> int:
    return int(Run.objects.filter(profile=profile).order_by("-pk").values_list("pk", flat=True)[0])


def profile_of(run: int) -> int:
    return int(Run.objects.get(pk=run).profile_id)
