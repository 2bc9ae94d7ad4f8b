"""Starts the portal's processes, watches them, and leaves none behind."""
