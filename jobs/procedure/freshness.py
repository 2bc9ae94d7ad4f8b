"""Whether an answer still holds: what it was measured with, beside what there is now.

Stale, to be measured again: the model (its name, its revision's commit, its config), the precision and how the weights
are packed, the attention, the strategies asked for, the sequences, the workload's lengths and prompts, the capacity,
the headroom and the bounds, the device, a minor or major release of transformers. In doubt, probably unaffected: a
patch release of it, the driver, CUDA, torch and what transformers loads and runs a model with; how thoroughly it is
measured. A library that the recommended strategy or the weights are made by counts as transformers does, others not at
all. What is not known of one side is no difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.procedure.difference import Difference, Weight, stale
from jobs.procedure.question_differences import question_differences
from jobs.procedure.releases import Step, step_between
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import column_text

TRANSFORMERS = "transformers"
IN_DOUBT = ("torch", "cuda", "driver", "accelerate", "kernels")
BACKENDS = {"hqq": "hqq", "quanto": "optimum-quanto"}
PACKERS = {"bnb4": "bitsandbytes", "bnb8": "bitsandbytes"}
SHOWN_AS = {"cuda": "CUDA", "config": "model config"}
SAME_SIZE_PART = 0.01  # what a kernel keeps for itself of a machine's memory changes with its version
SHORT_HASH = 7


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What an answer rests on, or would rest on if it were measured now. Empty, None or 0 where it is not known.

    question: a Question as JSON. versions: of libraries by their names, of the driver and of CUDA. commit: what a Hub
    model's revision stood for. config_hash: of the config as the inspection read it, with the transformers `config_by`;
    only two read with the same can be compared.
    """

    question: Mapping[str, Any]
    versions: Mapping[str, str]
    device_name: str = ""
    device_bytes: int = 0
    commit: str = ""
    config_hash: str = ""
    config_by: str = ""

    @classmethod
    def of_run(
        cls,
        *,
        question: Mapping[str, Any],
        environment: Mapping[str, Any],
        device: Mapping[str, Any],
        config_hash: str,
    ) -> "Basis":
        """As a run keeps them; versions lie in its environment by name, or under "versions"."""
        versions = versions_in(environment)
        return cls(
            question=question,
            versions=versions,
            device_name=str(device.get("name") or ""),
            device_bytes=int(device.get("capacity_bytes") or 0),
            commit=str(environment.get("model_revision") or ""),
            config_hash=config_hash,
            config_by=versions.get(TRANSFORMERS, ""),
        )


def versions_in(environment: Mapping[str, Any]) -> dict[str, str]:
    """Of the libraries that a difference is looked for in."""
    nested = environment.get("versions")
    found = {**environment, **(nested if isinstance(nested, Mapping) else {})}
    watched = (TRANSFORMERS, *IN_DOUBT, *BACKENDS.values(), *PACKERS.values())
    return {name: str(found[name]) for name in watched if found.get(name)}


def differences(was: Basis, now: Basis, *, strategy: str) -> tuple[Difference, ...]:
    """What makes the answer stale first. strategy: the recommended one, by its name; empty where none is."""
    found = [*question_differences(was.question, now.question), *environment_differences(was, now, strategy=strategy)]
    return tuple(sorted(found, key=lambda difference: difference.weight is not Weight.STALE))


def environment_differences(was: Basis, now: Basis, *, strategy: str) -> tuple[Difference, ...]:
    """In the model, the device and the libraries."""
    return (*_model(was, now), *_device(was, now), *_libraries(was, now, strategy))


def _model(was: Basis, now: Basis) -> Iterator[Difference]:
    if was.commit and now.commit and was.commit != now.commit:
        yield stale("model revision", was.commit[:SHORT_HASH], now.commit[:SHORT_HASH])
    comparable = was.config_hash and now.config_hash and was.config_by == now.config_by
    if comparable and was.config_hash != now.config_hash:
        yield stale(SHOWN_AS["config"], was.config_hash[:SHORT_HASH], now.config_hash[:SHORT_HASH])


def _device(was: Basis, now: Basis) -> Iterator[Difference]:
    if not (was.device_name and now.device_name):
        slots = str(was.question.get("device") or ""), str(now.question.get("device") or "")
        if all(slots) and slots[0] != slots[1]:
            yield stale("device", *slots)
        return
    if was.device_name != now.device_name:
        yield stale("device", was.device_name, now.device_name)
        return
    before, after = was.device_bytes, now.device_bytes
    texts = column_text(before, max(before, after)), column_text(after, max(before, after))
    asked = now.question.get("capacity_bytes")
    if not (before and after) or texts[0] == texts[1] or (asked is not None and after >= asked):
        return
    small = asked is None and abs(after - before) <= SAME_SIZE_PART * before
    weight = Weight.DOUBT if small else Weight.STALE
    yield Difference(what="device memory", was=texts[0], now=texts[1], weight=weight)


def _libraries(was: Basis, now: Basis, strategy: str) -> Iterator[Difference]:
    used = _used(strategy, str(was.question.get("weights") or ""))
    for name in (TRANSFORMERS, *used, *IN_DOUBT):
        before, after = was.versions.get(name, ""), now.versions.get(name, "")
        if before and not after and name in used and now.versions:
            yield stale(name, before, "not installed")
        elif before and after and (step := step_between(before, after)) is not Step.SAME:
            weight = Weight.DOUBT if name in IN_DOUBT or step is Step.PATCH else Weight.STALE
            yield Difference(what=SHOWN_AS.get(name, name), was=before, now=after, weight=weight)


def _used(strategy: str, weights: str) -> tuple[str, ...]:
    """Libraries by which the cache recommended is quantized, or the weights are packed."""
    try:
        backend = Strategy.parse(strategy).backend if strategy else None
    except Refusal:  # a strategy of another release
        backend = None
    found = (BACKENDS.get(backend or ""), PACKERS.get(weights))
    return tuple(name for name in found if name)
