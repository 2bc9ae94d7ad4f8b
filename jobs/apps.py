from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = "KV Portal"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in, user_logged_out

        from jobs.web import signed_in

        user_logged_in.connect(signed_in.signed_in)
        user_logged_out.connect(signed_in.signed_out)
