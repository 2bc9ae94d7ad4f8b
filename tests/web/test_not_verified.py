"""What has run on no GPU says so wherever a GPU is offered or has answered, until there are figures of one."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from jobs.asking.question import device_label
from jobs.procedure import verified
from jobs.procedure.verified import CUDA_VERIFIED, NOT_VERIFIED, doubt
from tests.factories import make_run, make_worker

ROOT = Path(__file__).parents[2]


def test_it_is_verified_exactly_when_there_are_figures_of_a_gpu() -> None:
    assert ("\n## On a GPU\n" in (ROOT / "docs/measured.md").read_text()) is CUDA_VERIFIED


def test_the_readme_says_so_too() -> None:
    assert (NOT_VERIFIED in (ROOT / "README.md").read_text()) is not CUDA_VERIFIED


@pytest.mark.parametrize(("device", "is_doubted"), [("cuda:0", True), ("cuda:0,cuda:1", True), ("cpu", False)])
def test_a_gpu_is_doubted_and_a_processor_is_not(
    monkeypatch: pytest.MonkeyPatch, device: str, is_doubted: bool
) -> None:
    monkeypatch.setattr(verified, "CUDA_VERIFIED", False)
    assert bool(doubt(device)) is is_doubted


def test_once_verified_nothing_is_doubted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified, "CUDA_VERIFIED", True)
    assert doubt("cuda:0") == ""


@pytest.mark.parametrize(("device", "times"), [("cuda:0", 1), ("cpu", 0)])
def test_a_worker_of_a_gpu_says_so_and_its_choice_in_the_form_too(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch, device: str, times: int
) -> None:
    monkeypatch.setattr(verified, "CUDA_VERIFIED", False)
    worker = make_worker(device)
    assert signed_in.get(reverse("workers")).content.decode().count(NOT_VERIFIED) == times
    assert device_label(worker).count(NOT_VERIFIED) == times


@pytest.mark.parametrize(("device", "times"), [("cuda:0", 1), ("cpu", 0)])
def test_a_run_on_a_gpu_says_so(signed_in: Client, monkeypatch: pytest.MonkeyPatch, device: str, times: int) -> None:
    monkeypatch.setattr(verified, "CUDA_VERIFIED", False)
    run = make_run(make_worker(device))
    run.question = run.question | {"device": device}
    run.save()
    assert signed_in.get(reverse("run", args=[run.pk])).content.decode().count(NOT_VERIFIED) == times
