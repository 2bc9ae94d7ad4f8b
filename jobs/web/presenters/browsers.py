"""What a browser calls itself, in two words."""

import re

BROWSERS = (
    ("Edge", r"\bEdg"),
    ("Opera", r"\bOPR/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|HeadlessChrome)/"),
    ("Safari", r"\bSafari/"),
    ("curl", r"^curl/"),
    ("Python", r"^python-"),
)
SYSTEMS = (
    ("Android", r"\bAndroid\b"),
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("Linux", r"\bLinux\b"),
)


def browser_name(agent: str) -> str:
    """“Firefox on Linux”; “a browser” where it does not say."""
    browser = next((name for name, pattern in BROWSERS if re.search(pattern, agent)), "a browser")
    system = next((name for name, pattern in SYSTEMS if re.search(pattern, agent)), "")
    return f"{browser} on {system}" if system else browser
