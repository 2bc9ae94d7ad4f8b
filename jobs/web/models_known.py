"""What the model field offers."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from jobs.sizing import architectures
from jobs.web.formats import parameters, tokens

MOST_FOLDERS = 200


@dataclass(frozen=True, kw_only=True)
class ModelOffer:
    """`name` is what the field takes."""

    name: str
    note: str


def model_offers() -> list[ModelOffer]:
    """Built-in architectures, then the folders with a config below the models folder."""
    return [_architecture_offer(name) for name in architectures.names()] + _folder_offers(settings.MODELS_DIR)


def _architecture_offer(name: str) -> ModelOffer:
    known = architectures.get(name)
    limit = f", up to {tokens(known.native_context)}" if known.native_context else ""
    return ModelOffer(name=name, note=f"built-in, {parameters(known.parameters)} parameters{limit}")


def _folder_offers(models_dir: Path) -> list[ModelOffer]:
    """At one and two levels below the models folder, the first few hundred."""
    configs = [*models_dir.glob("*/config.json"), *models_dir.glob("*/*/config.json")]
    names = sorted(str(config.parent.relative_to(models_dir)) for config in configs)
    return [ModelOffer(name=name, note="folder") for name in names[:MOST_FOLDERS]]
