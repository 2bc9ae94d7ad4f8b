"""A question's form becomes profiles and runs, or says why not."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from jobs.asking.fields import said
from jobs.asking.question import QuestionForm
from jobs.asking.several import Each, SeveralForm
from jobs.asking.waiting import Read, entries_read, entry_read
from jobs.models import ModelEntry, Profile, Run, Workload
from jobs.selectors.model_entry import record_of
from jobs.services.profile import profile_ask_anew
from jobs.services.several import Asked, runs_submit
from jobs.services.workload import workload_save
from jobs.sizing.refusal import Refusal
from jobs.web.presenters.questions import workload_summary

STILL_READING = "still_reading"
REFUSED_AT = {"bad_revision": "revision", STILL_READING: "__all__"}
KEPT = " What you typed is kept."
LENGTHS = ("prompt_tokens", "typical_prompt_tokens", "answer_tokens", "sequences")


@dataclass(frozen=True, kw_only=True)
class Begun:
    """What a question begins with: the profile that it clones, or the one whose question it changes, or neither."""

    source: Profile | None = None
    edited: Profile | None = None

    @property
    def like(self) -> Profile | None:
        return self.edited or self.source


def submitted(form: SeveralForm, begun: Begun, user: User) -> list[Run]:
    """All that it asks for; empty where it was refused after all: its errors say why."""
    asked = _asked(form, user)
    if not asked:
        return []
    try:
        with transaction.atomic():
            workload = _workload(form, begun, user)
            if begun.edited:
                return [_anew(begun.edited, asked[0], workload, user)]
            return runs_submit(user=user, asked=asked, workload=workload, cloned_from=begun.source)
    except Refusal as refusal:
        form.add_error("workload_name" if refusal.code.startswith("workload") else None, said(refusal))
        return []


def inspected(form: QuestionForm, user: User) -> ModelEntry | None:
    """Ask for the inspection of the form's own model, and wait a bounded time for it."""
    try:
        return entry_read(text=form.cleaned_data["model"], revision=form.cleaned_data["revision"] or None, user=user)
    except Refusal as refusal:
        kept = KEPT if refusal.code == STILL_READING else ""
        field = REFUSED_AT.get(refusal.code, "model")
        form.add_error(None if field == "__all__" else field, said(refusal) + kept)
        return None


def _asked(form: SeveralForm, user: User) -> list[Asked]:
    every = form.each()
    read = entries_read(named={_named(each): None for each in every}, user=user)
    _tell_unread(form, read)
    told = {name for name, entry in read.items() if _is_unread(entry)}
    for each in every:
        _check(form, each, read[_named(each)], told)
    if form.errors:
        return []
    found = [(each, entry) for each in every if isinstance(entry := read[_named(each)], ModelEntry)]
    return [_one(form, each, entry, several=len(every) > 1) for each, entry in found]


def _tell_unread(form: SeveralForm, read: Mapping[tuple[str, str | None], Read]) -> None:
    """One sentence for all that are still being read, with what is ready where it is the rest."""
    unread = [name for (name, _), entry in read.items() if _is_unread(entry)]
    if not unread:
        return
    *some, last = unread
    names = f"{', '.join(some)} and {last} are" if some else f"{last} is"
    rest = len(read) - len(unread)
    ready = rest == sum(isinstance(entry, ModelEntry) for entry in read.values())
    others = "the other model is" if rest == 1 else f"the other {rest} models are"
    ending = f"; {others} ready" if rest and ready else ""
    form.add_error(None, f"{names} still being read{ending}. Send this again in a moment.{KEPT}")


def _is_unread(entry: Read) -> bool:
    return isinstance(entry, Refusal) and entry.code == STILL_READING


def _named(each: Each) -> tuple[str, str | None]:
    return each.model, each.form.cleaned_data["revision"] or None


def _check(form: SeveralForm, each: Each, entry: ModelEntry | Refusal, told: set[tuple[str, str | None]]) -> None:
    """A model that is refused is told once, however many devices it is asked on."""
    if isinstance(entry, Refusal):
        if _named(each) not in told:
            told.add(_named(each))
            form.refuse(each, REFUSED_AT.get(entry.code, "model"), said(entry))
        return
    record = record_of(entry)
    refused = {"model": f"There is no record of {entry}."} if record is None else each.form.refused_by(record)
    for name, sentence in refused.items():
        form.refuse(each, name, sentence)


def _one(form: SeveralForm, each: Each, entry: ModelEntry, *, several: bool) -> Asked:
    """Named as somebody wrote, or after the model and its workload; of several, after model and device too."""
    question = each.form.question(entry.name)
    written = form.cleaned_data["name"]
    usual = f"{entry.name} · {workload_summary(question.as_json())}"
    if not several:
        name = written or usual
    else:
        place = each.worker.device_name
        name = f"{written} · {entry.name} · {place}" if written else f"{usual} · {place}"
    return Asked(name=name[:120], entry=entry, question=question, worker=each.worker)


def _anew(profile: Profile, one: Asked, workload: Workload | None, user: User) -> Run:
    return profile_ask_anew(
        profile=profile, user=user, entry=one.entry, question=one.question, worker=one.worker, workload=workload
    )


def _workload(form: SeveralForm, begun: Begun, user: User) -> Workload | None:
    """The one picked, or the typed lengths saved under the given name, or the one of before where they are its."""
    cleaned = form.cleaned_data
    picked: Workload | None = cleaned["workload"]
    if picked:
        return picked
    if cleaned["workload_name"]:
        lengths = {name: cleaned[name] for name in LENGTHS}
        return workload_save(user=user, name=cleaned["workload_name"], prompts=cleaned["prompts"], **lengths)
    before = begun.like.workload if begun.like else None
    same = before is not None and all(getattr(before, name) == cleaned[name] for name in LENGTHS)
    return before if same else None
