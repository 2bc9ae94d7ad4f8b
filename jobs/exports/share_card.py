"""The picture of a shared answer, for whatever shows a preview of its link: drawn anew, always the same bytes."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from jobs.exports.share_curve import draw_curve
from jobs.exports.share_headline import Headline, headline
from jobs.exports.share_text import strategy_text

WIDTH_PX, HEIGHT_PX = 1200, 630
MARGIN_PX = 72
PAPER, INK, SOFT, LINE = "#ffffff", "#17202c", "#4b5868", "#d5dbe3"
ACCENT, GOOD, WARN, BAD = "#1c5cc4", "#17683f", "#7a5600", "#a32a22"
TITLE_LINES = 2
PLOT = (700, 262, WIDTH_PX - MARGIN_PX, 500)
TEXT_PX = PLOT[0] - MARGIN_PX - 48
FIGURE_PX = (128, 104, 84, 64)  # the largest at which the figure and what is beside it have room
COLOURS = 64  # of the palette: flat areas and the edges of letters need no more

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def share_card(title: str, taken: Mapping[str, Any]) -> bytes:
    """A PNG of WIDTH_PX × HEIGHT_PX of a snapshot."""
    image = Image.new("RGB", (WIDTH_PX, HEIGHT_PX), PAPER)
    draw = ImageDraw.Draw(image)
    limit, head = taken["limit"], headline(taken)
    tone = (WARN if head.cautions else GOOD) if limit["fits"] else BAD
    draw.rectangle((0, 0, WIDTH_PX, 14), fill=tone)
    _lines(draw, _wrapped(draw, drawable(title) or taken["model"]["name"], _font(46)), top=64, font=_font(46))
    eyebrow = _eyebrow(limit) if head.measured is None else "The team deploys at most"
    draw.text((MARGIN_PX, 236), eyebrow, font=_font(30), fill=tone)
    _figure(draw, head)
    if head.context is not None:
        told = _told(head, taken["workload"]["sequences"])
        _lines(draw, _wrapped(draw, told, _font(28), TEXT_PX), top=418, font=_font(28), fill=SOFT)
    if head.cautions:
        reason = _cut(draw, f"{head.cautions[0][0].upper()}{head.cautions[0][1:]}", _font(26), TEXT_PX)
        draw.text((MARGIN_PX, 504), reason, font=_font(26), fill=WARN)
    draw_curve(draw, taken, PLOT)
    _foot(draw, taken)
    return _png(image)


def drawable(text: str) -> str:
    """What the bundled letters can show: accents go, and letters that it lacks."""
    apart = unicodedata.normalize("NFKD", text.replace("–", "-").replace("—", "-").replace("×", "x"))
    return " ".join("".join(letter for letter in apart if letter.isascii() or letter in "·’‘“”…").split())


def _font(size_px: int) -> Font:
    return ImageFont.load_default(size_px)


def _eyebrow(limit: Mapping[str, Any]) -> str:
    if limit["fits"]:
        return "Max context"
    if limit["open"]:
        return "No answer yet"
    return "Does not fit. The closest" if limit["context"] is not None else "Nothing fits"


def _figure(draw: ImageDraw.ImageDraw, head: Headline) -> None:
    """With “provisional” beside it where it is."""
    figure, beside = "none" if head.context is None else f"{head.context:,}", "provisional" if head.cautions else ""
    taken_px = draw.textlength(f"  {beside}", font=_font(34)) if beside else 0
    sizes = [size for size in FIGURE_PX if draw.textlength(figure, font=_font(size)) + taken_px <= TEXT_PX]
    font = _font(sizes[0] if sizes else FIGURE_PX[-1])
    draw.text((MARGIN_PX, 392), figure, font=font, fill=INK, anchor="ls")
    left = MARGIN_PX + draw.textlength(figure, font=font)
    draw.text((left, 392), f"  {beside}", font=_font(34), fill=WARN, anchor="ls")


def _told(head: Headline, sequences: int) -> str:
    each = f" for each of {sequences:,}," if sequences > 1 else ""
    more = f"; {head.measured:,} were measured" if head.measured else ""
    return f"tokens{each} {strategy_text(head.strategy)}{more}"


def _wrapped(draw: ImageDraw.ImageDraw, text: str, font: Font, width_px: int = WIDTH_PX - 2 * MARGIN_PX) -> list[str]:
    """At most TITLE_LINES lines; what is left out is told by three dots."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < TITLE_LINES:
        line = words.pop(0)
        while words and draw.textlength(f"{line} {words[0]}", font=font) <= width_px:
            line = f"{line} {words.pop(0)}"
        lines.append(_cut(draw, line, font, width_px))
    if words:
        lines[-1] = _cut(draw, f"{lines[-1]} {words[0]} …", font, width_px)
    return lines


def _cut(draw: ImageDraw.ImageDraw, line: str, font: Font, width_px: int) -> str:
    if draw.textlength(line, font=font) <= width_px:
        return line
    while line and draw.textlength(f"{line}…", font=font) > width_px:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _lines(draw: ImageDraw.ImageDraw, lines: Sequence[str], *, top: int, font: Font, fill: str = INK) -> None:
    for place, line in enumerate(lines):
        draw.text((MARGIN_PX, top + place * round(1.28 * _height(font))), line, font=font, fill=fill)


def _height(font: Font) -> int:
    return round(font.getbbox("Ag")[3])


def _foot(draw: ImageDraw.ImageDraw, taken: Mapping[str, Any]) -> None:
    draw.line((MARGIN_PX, 550, WIDTH_PX - MARGIN_PX, 550), fill=LINE, width=2)
    measured = datetime.fromisoformat(taken["measured_at"])
    text = f"{drawable(taken['device']['name'])} · measured on {measured.day} {measured:%B %Y}"
    draw.text((MARGIN_PX, 570), _cut(draw, text, _font(26), 880), font=_font(26), fill=SOFT)
    draw.text((WIDTH_PX - MARGIN_PX, 570), "KV Portal", font=_font(26), fill=ACCENT, anchor="ra")


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    few = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(file, "PNG")
    return file.getvalue()
