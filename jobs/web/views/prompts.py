"""The team's own prompts that are kept: what there is of them, and deleting one's own. Their text is shown nowhere."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from jobs.asking.fields import said
from jobs.models import PromptSet
from jobs.selectors.permission import Act
from jobs.selectors.prompt_set import prompt_set_get, prompt_sets_list
from jobs.services.prompt_set import prompt_set_delete, prompt_set_may_delete
from jobs.sizing.refusal import Refusal
from jobs.web.permission import refuse_unless
from jobs.web.session import signed_in


@require_safe
def prompts(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    rows = [(one, prompt_set_may_delete(user=user, prompts=one)) for one in prompt_sets_list()]
    return render(request, "prompts/list.html", {"nav": "new", "rows": rows})


@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        found = prompt_set_get(pk)
        refuse_unless(request, Act.CHANGE, owners=[found.owner_id])
        prompt_set_delete(user=signed_in(request), prompts=found)
    except PromptSet.DoesNotExist as missing:
        raise Http404 from missing
    except Refusal as refusal:
        messages.error(request, said(refusal))
    else:
        messages.info(request, f"“{found.name}” is deleted. Runs keep their figures.")
    return redirect("prompts")
