"""A GGUF file's answer says whose memory it is not."""

from dataclasses import replace

from jobs.management.profile_text import answer_text
from jobs.procedure.measurement import Loaded
from tests.procedure.worlds import World, answered, question, record

NOTE = "The GGUF file's weights were dequantized to bfloat16 when loaded: not your llama.cpp's memory."


class Gguf(World):
    def load(self) -> Loaded:
        loaded = super().load()
        return replace(loaded, environment={**loaded.environment, "gguf_file": "tiny.Q4_1.gguf"})


def test_an_answer_from_a_gguf_file_says_that_it_is_not_llama_cpps_memory() -> None:
    stages = answered(Gguf(asked=question(), record=record())).stages
    assert stages["limit"]["weights_note"] == NOTE
    assert NOTE in answer_text(stages).splitlines()


def test_another_answer_says_nothing_of_it() -> None:
    stages = answered(World(asked=question(), record=record())).stages
    assert stages["limit"]["weights_note"] is None
    assert "llama.cpp" not in answer_text(stages)
