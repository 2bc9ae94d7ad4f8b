"""The size command's answer as a table for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.sizing.record import ON_THE_FLY_SOURCE
from jobs.sizing.stored import stored_sentence
from jobs.sizing.units import bytes_text

HEADINGS = ("tokens", "sequences", "strategy", "KV cache", "KV after prompt", "working", "peak", "in", "CPU RAM")

KERNELS = "Working memory is that of passes with a CPU's kernels; on a GPU it may differ until a run has measured it."


def size_text(answer: Mapping[str, Any]) -> str:
    """What the model is, then a line a point; bytes in binary units."""
    rows = [HEADINGS, *(_row(point) for point in answer["points"])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*_about(answer), "", *lines, *_beyond(answer), "", KERNELS])


def _about(answer: Mapping[str, Any]) -> Sequence[str]:
    native = f"{answer['native_context']:,} tokens" if answer["native_context"] else "none set"
    layers = ", ".join(f"{count} {kind}" for kind, count in answer["layers"].items() if count)
    window = f" (window of {answer['window_tokens']:,} tokens)" if answer["window_tokens"] else ""
    return (
        f"{answer['model']} ({answer['model_type']}), estimated with transformers {answer['transformers']}",
        f"parameters      {answer['parameters']:,}",
        *_weights(answer),
        f"native context  {native}",
        f"layers          {layers}{window}",
    )


def _beyond(answer: Mapping[str, Any]) -> Sequence[str]:
    longer = [f"{point['tokens']:,}" for point in answer["points"] if point["beyond_native_context"]]
    if not longer:
        return ()
    return ("", f"{answer['model']} reads at most {answer['native_context']:,} tokens: not {', '.join(longer)}.")


def _weights(answer: Mapping[str, Any]) -> Sequence[str]:
    size, stored = bytes_text(answer["weights_bytes"]), answer["weights"]
    if stored is None:
        return (f"weights         {size} in {answer['dtype']}",)
    how = "packed as      " if stored["source"] == ON_THE_FLY_SOURCE else "stored as      "
    return f"weights         {size}", f"{how} {stored_sentence(stored, answer['dtype'])}"


def _row(point: Mapping[str, Any]) -> tuple[str, ...]:
    sizes = (point["kv_bytes"], point["kv_prefill_bytes"], point["working_bytes"], point["peak_bytes"])
    kv, prefill, working, peak = (bytes_text(size) for size in sizes)
    host = bytes_text(point["host_bytes"]) if point["host_bytes"] else "-"
    counts = f"{point['tokens']:,}", str(point["sequences"]), point["strategy"]
    return (*counts, kv, prefill, working, peak, point["peak_phase"], host)
