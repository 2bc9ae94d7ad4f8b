"""What a list of profiles is narrowed by, as its address says it."""

from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlencode

import django_filters
from django import forms
from django.db.models import QuerySet
from django.forms import BoundField
from django.http import HttpRequest, QueryDict

from jobs.models import Freshness, Profile, RunState
from jobs.selectors.compare import MOST_COMPARED, MOST_PK
from jobs.selectors.profile import SORTS, devices_shown, profiles_list, profiles_on, profiles_with_words, tags_used

MOST_WORDS = 100
MOST_PROFILES = 100
NONE = "none"
SORT_NAMES = {
    "-date": "newest first",
    "date": "oldest first",
    "name": "by name",
    "model": "by model",
    "-context": "longest context first",
    "context": "shortest context first",
    "-speed": "fastest first",
}
FRESHNESS = [(Freshness.FRESH, "fresh"), (Freshness.DOUBT, "in doubt"), (Freshness.STALE, "stale"), (NONE, "no answer")]
SEARCH = forms.TextInput(attrs={"type": "search", "placeholder": "Search by name, model, tag or owner"})
Profiles = QuerySet[Profile]


class NumbersField(forms.Field):
    """Profiles' numbers, each once; what is none is passed over."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[int]:
        written = [text for text in value or () if text.isascii() and text.isdigit() and len(text) < 20]
        return list(dict.fromkeys(number for number in map(int, written) if 0 < number <= MOST_PK))[:MOST_PROFILES]


class NumbersFilter(django_filters.Filter):
    field_class = NumbersField


def _choice(name: str, blank: str, choices: Any) -> django_filters.ChoiceFilter:
    return django_filters.ChoiceFilter(label=name, empty_label=blank, choices=choices, method="by")


class ProfileFilter(django_filters.FilterSet):
    """A value that is none is passed over, and stands in `passed_over`."""

    q = django_filters.CharFilter(label="Search profiles", method="by_words", widget=SEARCH)
    freshness = _choice("freshness", "fresh or not", FRESHNESS)
    adopted = _choice("adopted", "either", [("yes", "adopted"), ("no", "not adopted")])
    device = _choice("device", "any device", [])
    tag = _choice("tag", "any tag", [])
    state = _choice("state of the latest run", "any state", RunState.choices)
    whose = _choice("whose", "everybody’s", [("mine", "mine")])
    archived = _choice("archived", "not archived", [("yes", "archived")])
    sort = _choice("order", "newest first", [(name, SORT_NAMES[name]) for name in SORTS if name != "-date"])
    profile = NumbersFilter(method="by_numbers")

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(_read(request.GET), queryset=Profile.objects.none(), request=request)
        self.filters["device"].extra["choices"] = [(name, name) for name in devices_shown()]
        self.filters["tag"].extra["choices"] = [(name, name) for name in tags_used()]
        self.given: dict[str, Any] = self.form.cleaned_data if self.form.errors is not None else {}

    @property
    def found(self) -> Profiles:
        found = profiles_list(sort=self.given.get("sort") or "-date")
        if not self.numbers:
            found = found.filter(archived_at__isnull=self.given.get("archived") != "yes")
        return cast("Profiles", self.filter_queryset(found))

    @property
    def numbers(self) -> list[int]:
        """The profiles that the address names, few enough to be told one by one."""
        return list(self.given.get("profile") or ())

    @property
    def narrowed(self) -> bool:
        """Whether the list is another than all that are not archived."""
        return any(value for name, value in self.given.items() if name != "sort")

    @property
    def folded(self) -> bool:
        """Whether one of those beside the words and the order is set."""
        return any(value for name, value in self.given.items() if name not in ("sort", "q", "profile"))

    @property
    def choices(self) -> list[BoundField]:
        """Those that are offered beside the words and the order."""
        return [self.form[name] for name in self.filters if name not in ("q", "sort", "profile")]

    @property
    def comparable(self) -> str:
        """The query that compares what is shown, where it is few enough for that."""
        return (
            urlencode([("profile", number) for number in self.numbers])
            if 1 < len(self.numbers) <= MOST_COMPARED
            else ""
        )

    @property
    def passed_over(self) -> list[str]:
        return [
            f"“{self.data[name][:40]}” is none of the choices for {self._label(name)}." for name in self.form.errors
        ]

    @property
    def address(self) -> str:
        """What is set, as the start of a page link's query."""
        query = QueryDict(mutable=True)
        for name, value in self.given.items():
            if value:
                query.setlist(name, [str(one) for one in value] if name == "profile" else [value])
        return f"{query.urlencode()}&" if query else ""

    def by(self, found: Profiles, name: str, value: str) -> Profiles:
        if name == "freshness":
            return found.filter(freshness="" if value == NONE else value)
        if name == "adopted":
            return found.filter(adoption__isnull=value != "yes")
        if name == "device":
            return profiles_on(found, value)
        if name == "tag":
            return found.filter(tags__name=value)
        if name == "state":
            return found.filter(latest_run__state=value)
        if name == "whose":
            return found.filter(owner=self.request.user)
        return found

    def by_words(self, found: Profiles, _: str, words: str) -> Profiles:
        return profiles_with_words(found, words)

    def by_numbers(self, found: Profiles, _: str, numbers: Sequence[int]) -> Profiles:
        return found.filter(pk__in=numbers)

    def _label(self, name: str) -> str:
        return str(self.filters[name].label or name)


def _read(sent: QueryDict) -> QueryDict:
    """Without NUL, which PostgreSQL refuses in a text, without blanks around, and no longer than is looked for."""
    read = QueryDict(mutable=True)
    for name, values in sent.lists():
        most = MOST_WORDS if name == "q" else None
        read.setlist(name, [value.replace("\0", "").strip()[:most] for value in values])
    return read
