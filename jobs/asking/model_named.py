"""The model that a text names."""

from django.conf import settings

from jobs.running.model_source import resolve_model
from jobs.sizing.model_spec import ModelSpec


def spec_of(text: str, revision: str) -> ModelSpec:
    """Raises Refusal for what is no model."""
    return resolve_model(text, revision=revision or None, models_dir=settings.MODELS_DIR, any_folder=False)
