"""Bodies that are read strictly, and fields that several resources take."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

MOST_TEXT = 300


class Strict(serializers.Serializer):
    """A name that is not known is refused, not passed over: it is most likely mistyped."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = [str(name)[:60] for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError({name: [f"Not known. Use {known}."] for name in unknown[:20]})
        return super().to_internal_value(data)


@extend_schema_field({"oneOf": [{"type": "integer", "minimum": 1}, {"type": "string"}], "nullable": True})
class Size(serializers.Field):
    """Bytes, or a size as people write it: `24GiB`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, **options)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, int | str):
            raise serializers.ValidationError("Write bytes as a whole number, or a size such as 24GiB.")
        return f"{data}B" if isinstance(data, int) else data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string"}], "nullable": True})
class NumberOrText(serializers.Field):
    """As it was written."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, **options)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool) or not isinstance(data, int | float | str):
            raise serializers.ValidationError("Write a number or a text.")
        return str(data)[:MOST_TEXT]

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(OpenApiTypes.OBJECT)
class Whatever(serializers.JSONField):
    """A JSON object whose fields are told elsewhere."""
