"""The team's own prompts in the question's form: kept as they come, counted, and shown with their lengths."""

from django.contrib.auth.models import User
from django.http import QueryDict

from jobs.asking.model_named import spec_of
from jobs.asking.prompts import Upload
from jobs.asking.question import QuestionForm
from jobs.asking.several import SeveralForm
from jobs.asking.waiting import settled
from jobs.models import ModelEntry, PromptCount, PromptSet
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.selectors.model_entry import entry_find
from jobs.selectors.prompt_set import prompt_count_find, prompt_sets_list
from jobs.services.prompt_count import prompt_count_request
from jobs.services.prompt_set import prompt_set_save
from jobs.sizing.refusal import Refusal
from jobs.web.presenters.own_prompts import PromptsShown, prompts_shown


def keep_prompts(form: QuestionForm, sent: QueryDict, *, user: User) -> None:
    """A file that came with the form is kept, and chosen from here on: a browser does not send it again by itself."""
    upload: Upload | None = form.cleaned_data.get("prompts_file")
    if upload is None:
        return
    kept = prompt_set_save(user=user, name=upload.name, prompts=upload.prompts)
    form.errors.pop("prompts", None)
    sent["prompts"] = str(kept.pk)
    form.cleaned_data["prompts"] = kept


def counted(entry: ModelEntry, prompts: PromptSet) -> PromptCount:
    """Have them counted, and wait a bounded time for it."""
    return settled(prompt_count_request(entry=entry, prompts=prompts))


def suggested(sent: QueryDict, lengths: PromptLengths) -> SeveralForm:
    """The form as it was sent, but with the lengths that the prompts suggest."""
    sent["prompt_tokens"] = str(lengths.suggested_longest)
    sent["typical_prompt_tokens"] = str(lengths.suggested_typical)
    sent["workload"] = ""
    return SeveralForm(sent)


def told(form: QuestionForm) -> PromptsShown | None:
    """What is known of the prompts that the form names, for the model that it names."""
    prompts = next((one for one in prompt_sets_list() if str(one.pk) == str(form["prompts"].value())), None)
    if prompts is None:
        return None
    try:
        entry = entry_find(spec_of(str(form["model"].value() or ""), str(form["revision"].value() or "")))
    except Refusal:
        entry = None
    count = prompt_count_find(entry, prompts) if entry else None
    lengths = PromptLengths.from_json(count.lengths) if count and count.lengths else None
    return prompts_shown(prompts, entry, lengths)
