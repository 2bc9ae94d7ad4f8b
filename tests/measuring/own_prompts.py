"""A tiny model's folder with a tokenizer of its own: words w0, w1, … are tokens 10, 11, …"""

import json
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tests.measuring.conftest import LLAMA

IMAGE, BOS, FIRST, WORDS = 5, 1, 10, 600
"""The image's placeholder, the token set before every text, the first word's, and how many words there are: more than
the model's 512."""


def write(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA | {"image_token_id": IMAGE, "bos_token_id": BOS}))
    vocabulary = {"<unk>": 0, "<s>": BOS, "<image>": IMAGE} | {f"w{n}": FIRST + n for n in range(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", BOS)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return folder
