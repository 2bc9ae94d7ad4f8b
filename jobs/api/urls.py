from django.urls import path, re_path

from jobs.api.schema import Described
from jobs.api.views import check, nowhere, profile, run, share, size, worker

urlpatterns = [
    path("profiles/", profile.Profiles.as_view(), name="api-profiles"),
    path("profiles/<int:pk>/", profile.ProfileOne.as_view(), name="api-profile"),
    path("profiles/<int:pk>/runs/", profile.ProfileRuns.as_view(), name="api-profile-runs"),
    path("profiles/<int:pk>/limit/", profile.ProfileLimit.as_view(), name="api-profile-limit"),
    path("profiles/<int:pk>/check/", check.ProfileCheck.as_view(), name="api-profile-check"),
    path("runs/<int:pk>/", run.RunOne.as_view(), name="api-run"),
    path("runs/<int:pk>/events/", run.RunEvents.as_view(), name="api-run-events"),
    path("runs/<int:pk>/cancel/", run.RunCancel.as_view(), name="api-run-cancel"),
    path("runs/<int:pk>/shares/", share.RunShares.as_view(), name="api-run-shares"),
    path("shares/<int:pk>/", share.ShareOne.as_view(), name="api-share"),
    path("workers/", worker.Workers.as_view(), name="api-workers"),
    path("size/", size.Sizes.as_view(), name="api-size"),
    path("schema/", Described.as_view(), name="api-schema"),
    re_path("", nowhere.Nowhere.as_view(), name="api-nowhere"),
]
