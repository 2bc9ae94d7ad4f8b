"""What templates print figures with: bytes, counts, times, strategies."""

from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from jobs.procedure import verified
from jobs.sizing.strategy import strategy_label
from jobs.web import formats

register = template.Library()
register.filter("plain_name", formats.plain_name)
register.filter("size", formats.size)
register.filter("gib", formats.gib)
register.filter("beside", formats.beside)
register.filter("number", formats.number)
register.filter("about", formats.about)
register.filter("tokens", formats.tokens)
register.filter("seconds", formats.seconds)
register.filter("speed", formats.speed)
register.filter("percent", formats.percent)
register.filter("duration", formats.duration)
register.filter("parameters", formats.parameters)
register.filter("strategy", strategy_label)
register.filter("series", formats.strategy_series)
register.filter("doubt", verified.doubt)


@register.filter
def typed(name: object) -> SafeString:
    """A name that somebody typed, in an element of its own: its direction ends with it."""
    return format_html("<bdi>{}</bdi>", formats.plain_name(name))


@register.simple_tag
def moment(when: datetime | None, style: str = "long") -> SafeString | str:
    """A time with its zone; where there is JavaScript it becomes the reader's own zone's."""
    if when is None:
        return formats.MISSING
    text = f"{when:%H:%M:%S}" if style == "clock" else f"{when:%d %b %Y, %H:%M} UTC"
    return format_html('<time datetime="{}" data-local="{}">{}</time>', when.isoformat(), style, text)


@register.simple_tag
def why_in_doubt() -> str:
    return verified.WHY


@register.simple_tag
def change_percent(fraction: float | None) -> str:
    return formats.percent(fraction, signed=True)
