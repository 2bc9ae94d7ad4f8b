from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "kvportal"

    def ready(self) -> None:
        from kvportal import checks  # noqa: F401  (registers them)
