"""What code that is not this project's may raise: a model's own, transformers', torch's."""

import re

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

# A fault of this project's own would be told the same way.
LIBRARY_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    re.error,  # a quantization_config's patterns
    SafetensorError,
    StrictDataclassError,
    TypeError,
    ValueError,
)
