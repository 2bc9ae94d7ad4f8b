"""The sentences with which a model is refused before anything is loaded."""

from collections.abc import Sequence
from difflib import get_close_matches

from jobs.sizing import architectures
from jobs.sizing.refusal import Refusal

SHOWN_CHARACTERS = 80


def unknown_model(text: str) -> Refusal:
    return Refusal(
        "unknown_model",
        f"“{_shown(text)}” is no built-in architecture, folder, GGUF file or Hub id.",
        f"{_meant(text)}Give a built-in name such as SmolLM2-135M, a folder with a config.json, a .gguf file, or "
        "organisation/name.",
    )


def no_such_folder(text: str) -> Refusal:
    return Refusal("unknown_model", f"There is no folder “{_shown(text)}”.", "Check the path.")


def not_a_folder(text: str) -> Refusal:
    return Refusal(
        "unknown_model",
        f"“{_shown(text)}” is a file.",
        "Give the folder that holds config.json, or a file that ends in .gguf.",
    )


def several_gguf(text: str, files: Sequence[str]) -> Refusal:
    return Refusal(
        "several_gguf",
        f"“{_shown(text)}” holds {len(files)} GGUF files and no config.json.",
        f"Name the one you mean: {_shown(f'{text}/{files[0]}')}.",
    )


def outside_models(text: str) -> Refusal:
    return Refusal(
        "outside_models",
        f"“{_shown(text)}” lies outside the models folder.",
        "Put the model, or a copy of it, below the folder that MODELS_DIR names.",
    )


def no_config(text: str) -> Refusal:
    return Refusal("no_config", f"“{_shown(text)}” has no config.json.", "Choose a folder in the transformers format.")


def broken_config(text: str, why: str) -> Refusal:
    return Refusal(
        "broken_config",
        f"The config.json of “{_shown(text)}” is broken: {why}.",
        "Get the file again from where the model came from.",
    )


def needs_remote_code(text: str) -> Refusal:
    return Refusal(
        "needs_remote_code",
        f"“{_shown(text)}” runs on code that comes with it, which is not run here.",
        "Choose a model that transformers itself implements.",
    )


def bad_revision(text: str) -> Refusal:
    return Refusal("bad_revision", f"“{_shown(text)}” is not a revision.", "Give a branch, a tag or a commit.")


def _shown(text: str) -> str:
    printable = "".join(character for character in text if character.isprintable())
    return printable if len(printable) <= SHOWN_CHARACTERS else f"{printable[:SHOWN_CHARACTERS]}…"


def _meant(text: str) -> str:
    """The built-in name that this is nearly, as a question."""
    names = {name.casefold(): name for name in architectures.names()}
    near = get_close_matches(text[:SHOWN_CHARACTERS].casefold(), names, n=1, cutoff=0.8)
    return f"Did you mean {names[near[0]]}? " if near else ""
