"""What stands beside the estimate's figures: how the weights are stored, what doubles, where it all comes from."""

from jobs.procedure.outlook import Doubling, Outlook
from jobs.sizing.record import ON_THE_FLY_SOURCE, InspectionRecord
from jobs.sizing.stored import GGUF, dequantized_words
from jobs.sizing.units import bytes_text, gib
from jobs.web.formats import number
from jobs.web.plan import Plan


def basis(plan: Plan) -> str:
    """“Llama-3.1-8B · bfloat16 · 4,352 tokens · 23.54 GiB”: what the figures are of."""
    asked = plan.question
    times = f"{asked.sequences} × " if asked.sequences > 1 else ""
    told = [asked.model, asked.dtype, f"{times}{number(asked.context_tokens)} tokens"]
    return " · ".join([*told, bytes_text(plan.capacity_bytes)] if plan.capacity_bytes else told)


def doubled(plan: Plan, doubling: Doubling) -> str:
    """“Twice the context (8,704 tokens): KV cache ×2.0, …”: what doubles and what does not."""
    times = {"KV cache": doubling.kv, "working memory": doubling.working, "total": doubling.total}
    told = ", ".join(f"{label} ×{value:.1f}" for label, value in times.items() if value is not None)
    twice = 2 * plan.question.context_tokens
    native = plan.record.native_context
    beyond = ", more than the model reads" if native is not None and twice > native else ""
    why = " Windowed layers stop growing at their window." if doubling.windowed else ""
    why += " State-space layers hold the same at any length." if doubling.fixed else ""
    return f"Twice the context ({number(twice)} tokens{beyond}): {told}.{why}"


def stored_note(plan: Plan, found: Outlook) -> str:
    """How the weights are packed, and what that does to the figures; empty where they are not."""
    record, dtype = plan.record, plan.question.dtype
    if record.stored is None:
        return ""
    packed = f"packed as {record.stored.method}" + (f" ({record.stored.bits} bits)" if record.stored.bits else "")
    cache = f"The KV cache stays in {dtype} whatever the weights are packed in."
    if record.stored.source == ON_THE_FLY_SOURCE:
        return f"The weights are {packed} while they are loaded. {cache}"
    if found.packed_weights_bytes is not None:
        why = "A run draws random weights" if record.random_weights else "On this device the weights are unpacked"
        return f"{why}, in {dtype}; {packed}, as stored, they would be {gib(found.packed_weights_bytes)}."
    if record.stored.bits is None:
        return f"The weights are {packed}; what they take on the device is not known to the byte. {cache}"
    if record.stored.method == GGUF:
        return f"The GGUF file’s weights are {dequantized_words(dtype)}. {cache}"
    if record.stored.dequantized:
        return f"The files are {packed}, but loading turns the weights into {dtype}: on the device nothing is saved."
    return f"The weights are {packed}. {cache}"


def limit_note(plan: Plan) -> str:
    """Where the capacity is another device's: a run cannot have it."""
    own_bytes = plan.worker.capacity_bytes if plan.worker else None
    if not own_bytes or not plan.capacity_bytes or plan.capacity_bytes <= own_bytes:
        return ""
    return f"A run here is limited to {bytes_text(own_bytes)}, all that the device has."


def source_note(record: InspectionRecord) -> str:
    return (
        f"Estimated, not measured: read from the model’s own code with transformers "
        f"{record.versions.get('transformers', 'of an unknown version')}, in passes with a CPU’s kernels. "
        "Working memory on a GPU may differ."
    )
