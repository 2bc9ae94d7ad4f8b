"""The field that takes a file of the team's own prompts."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from jobs.asking.fields import said
from jobs.procedure.own_prompts import OwnPrompts, read_prompts, refuse_too_large
from jobs.sizing.refusal import Refusal


@dataclass(frozen=True, kw_only=True)
class Upload:
    name: str
    prompts: OwnPrompts


class PromptsField(forms.FileField):
    """An Upload, None without a file; its size is looked at before its content."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=300, allow_empty_file=True, **options)

    def clean(self, data: Any, initial: Any = None) -> Upload | None:
        file = super().clean(data, initial)
        if not isinstance(file, UploadedFile):
            return None
        try:
            refuse_too_large(file.size or 0)
            file.seek(0)  # a form may be cleaned more than once
            return Upload(name=file.name or "", prompts=read_prompts(file.read()))
        except Refusal as refusal:
            raise ValidationError(said(refusal)) from refusal
