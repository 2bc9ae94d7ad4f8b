from django.urls import path

from jobs.web import health
from jobs.web.views import (
    favicon,
    home,
    profile,
    profile_new,
    profiles,
    prompts,
    question_live,
    run,
    setup,
    sign_in,
    what_if,
    workers,
)

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-out/", sign_in.SignOut.as_view(), name="sign-out"),
    path("setup/<str:token>/", setup.setup, name="setup"),
    path("profiles/", profiles.profiles, name="profiles"),
    path("profiles/new/", profile_new.profile_new, name="profile-new"),
    path("profiles/new/model-check/", question_live.model_check, name="model-check"),
    path("profiles/new/duration/", question_live.duration, name="duration"),
    path("profiles/new/estimate/", question_live.estimate, name="estimate"),
    path("profiles/<int:pk>/", profile.profile, name="profile"),
    path("profiles/<int:pk>/again/", profile.again, name="run-again"),
    path("prompts/", prompts.prompts, name="prompts"),
    path("prompts/<int:pk>/delete/", prompts.delete, name="prompts-delete"),
    path("runs/<int:pk>/", run.run, name="run"),
    path("runs/<int:pk>/fragment/", run.fragment, name="run-fragment"),
    path("runs/<int:pk>/events/", run.events, name="run-events"),
    path("runs/<int:pk>/figures/", run.figures, name="run-figures"),
    path("runs/<int:pk>/cancel/", run.cancel, name="run-cancel"),
    path("runs/<int:pk>/what-if/", what_if.what_if, name="run-what-if"),
    path("workers/", workers.workers, name="workers"),
    path("favicon.ico", favicon.favicon, name="favicon"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
]
