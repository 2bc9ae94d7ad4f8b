"""What code that is not this project's may raise: a model's own, transformers', torch's."""

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
    SafetensorError,
    StrictDataclassError,
    TypeError,
    ValueError,
)
