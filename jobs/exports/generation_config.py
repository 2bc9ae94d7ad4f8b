"""The settings of an answer as the file that transformers' GenerationConfig.from_pretrained(folder) reads."""

import json
from collections.abc import Mapping
from typing import Any

FILE_NAME = "generation_config.json"


def generation_config_text(limit: Mapping[str, Any], environment: Mapping[str, Any]) -> str | None:
    """From the limit stage; None before it finished, or where nothing fits.

    What generate() takes is all that such a file can hold: the cache, the answer's length, the chunks of the prefill.
    What it leaves out (sampling, end of sequence) stays the model's own.
    """
    settings = limit.get("settings")
    if not settings or limit.get("context") is None:
        return None
    version = (environment.get("versions") or {}).get("transformers")
    held = dict(settings) | ({"transformers_version": version} if version else {})
    return json.dumps(held, indent=2, sort_keys=True) + "\n"


def use_snippet(limit: Mapping[str, Any], question: Mapping[str, Any]) -> str:
    """Python that answers with the file, and with what the file cannot hold; to be put behind the model's loading."""
    sequences = question["sequences"]
    answer = question["answer_tokens"]
    return (
        "from transformers import GenerationConfig\n"
        "\n"
        'settings = GenerationConfig.from_pretrained(".")  # the folder with generation_config.json\n'
        f"longest_prompt = {limit['prompt']}  # tokens of each sequence: measured to fit with an answer of {answer}\n"
        'assert inputs["input_ids"].shape[1] <= longest_prompt\n'
        f'assert inputs["input_ids"].shape[0] <= {sequences}\n'
        "output = model.generate(**inputs, generation_config=settings)\n"
    )
