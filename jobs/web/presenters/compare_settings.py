"""What runs were asked and measured with, side by side: what differs, and what that means for their figures."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jobs.models import Run
from jobs.web.formats import number, size
from jobs.web.presenters.own_prompts import prompts_words
from jobs.web.presenters.profile_rows import device_name
from jobs.web.presenters.questions import question_words
from jobs.web.presenters.run_page import environment_rows

VERSIONS = "versions · "
DEVICE = "Device"
TOLD = ("prompts", "attention")  # of the environment, what the question's rows say
OF_THE_MODEL = "config hash"  # of another model it is another of course
MODEL = "Model"
HASH_CHARACTERS = 12
NONE = "–"
CAUTION = "Their figures are not the strategies’ doing alone."


@dataclass(frozen=True, kw_only=True)
class SettingRow:
    """values: in the order of the runs; a dash where a run has none."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


def setting_rows(runs: Sequence[Run]) -> list[SettingRow]:
    """The question's first, then the environment's; the hash of the config where they are of one model alone."""
    asked = [_settings(run) for run in runs]
    found = [{name: value for name, value in environment_rows(run) if not name.startswith(TOLD)} for run in runs]
    names = dict.fromkeys(name for settings in found for name in settings)
    if len({settings[MODEL] for settings in asked}) > 1:
        names.pop(OF_THE_MODEL, None)
    for settings in found:
        if OF_THE_MODEL in settings:
            settings[OF_THE_MODEL] = settings[OF_THE_MODEL][:HASH_CHARACTERS]
    return [*(_row(name, asked) for name in asked[0]), *(_row(name, found) for name in sorted(names))]


def warnings(letters: str, rows: Iterable[SettingRow]) -> list[str]:
    """Where devices or library versions differ, in a sentence each that names them."""
    told = []
    for row in rows:
        if row.differs and row.name == DEVICE:
            told.append(f"Measured on different devices: {_of_each(letters, row)}. {CAUTION}")
        if row.differs and row.name.startswith(VERSIONS):
            name = row.name.removeprefix(VERSIONS)
            told.append(f"Measured with different versions of {name}: {_of_each(letters, row)}. {CAUTION}")
    return told


def _of_each(letters: str, row: SettingRow) -> str:
    """“5.24.0 (A, C), 5.23.0 (B)”."""
    groups: dict[str, list[str]] = {}
    for letter, value in zip(letters, row.values, strict=False):
        groups.setdefault(value, []).append(letter)
    return ", ".join(f"{value} ({', '.join(who)})" for value, who in groups.items())


def _row(name: str, of: Sequence[Mapping[str, str]]) -> SettingRow:
    return SettingRow(name=name, values=tuple(settings.get(name) or NONE for settings in of))


def _settings(run: Run) -> dict[str, str]:
    question, entry = run.question, run.model_entry
    words = question_words(question)
    capacity = question.get("capacity_bytes") or (run.stages.get("budgets") or {}).get("capacity_bytes")
    return {
        MODEL: entry.name + (" (random weights)" if entry.kind == "architecture" else ""),
        "Revision": entry.revision,
        DEVICE: device_name(run, run.profile),
        "Capacity": size(capacity),
        "Headroom": f"{number(question['headroom_percent'])} %",
        "Precision": words.dtype,
        "Attention": question["attention"],
        "Longest prompt": number(question["prompt_tokens"]),
        "Typical prompt": number(question["typical_prompt_tokens"]),
        "Answer": number(question["answer_tokens"]),
        "Sequences at once": number(question["sequences"]),
        "Prompts": prompts_words(question, run.environment),
        "Bounds": words.bounds,
        "Strategies to try": ", ".join(words.strategies) or "none",
        "Compared anyway": "yes" if question["compare_anyway"] else "no",
        "Depth": words.depth,
    }
