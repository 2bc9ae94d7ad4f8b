"""A user's own loop around generate(), which knows nothing of the portal: `python -m tests.bench.bare_generate FOLDER`.

Each line on its standard input is a prompt's and an answer's tokens; each is answered with the seconds of one call.
"""

import sys
from time import perf_counter

import torch
from transformers import AutoModelForCausalLM


def main(folder: str) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16).eval()
    model.generation_config.eos_token_id = None
    sys.stdout.write("loaded\n")
    sys.stdout.flush()
    for line in sys.stdin:
        prompt_tokens, answer_tokens = (int(word) for word in line.split())
        ids = torch.randint(3, model.config.vocab_size, (1, prompt_tokens))
        began_at = perf_counter()
        with torch.inference_mode():
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=answer_tokens,
                min_new_tokens=answer_tokens,
                do_sample=False,
            )
        sys.stdout.write(f"{perf_counter() - began_at}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
