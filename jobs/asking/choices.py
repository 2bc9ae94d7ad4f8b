"""What the question's form lets choose from, with a line on each."""

from jobs.procedure.question import Depth
from jobs.sizing.stored import AS_STORED, PACKED_WORDS

DTYPES = [("bfloat16", "bfloat16"), ("float16", "float16"), ("float32", "float32")]
WEIGHTS = [(AS_STORED, "as stored"), *PACKED_WORDS.items()]
DEPTHS = [
    (str(Depth.QUICK), "quick", "Each point once. Good for a first answer."),
    (str(Depth.FULL), "full", "Each point repeated until the figures agree."),
]
STRATEGIES = [
    ("quantized:hqq:8", "quantized 8 bits (hqq)", "About half the cache, nearly the same answers."),
    ("quantized:hqq:4", "quantized 4 bits (hqq)", "About a quarter of the cache; answers change a little."),
    ("quantized:quanto:4", "quantized 4 bits (quanto)", "As small as hqq’s 4 bits, other speed and quality."),
    ("chunked:512", "chunked prefill (512)", "Reads the prompt in pieces: a lower peak, a later first token."),
    ("static", "static", "Reserves the whole cache at once: no saving, a steady size."),
    ("offloaded", "offloaded to CPU", "Keeps the cache in CPU RAM; slow, and for a GPU only."),
    ("offloaded_static", "offloaded to CPU, static", "The same with all of its CPU RAM reserved at once."),
    ("quantized:hqq:2", "quantized 2 bits (hqq)", "The smallest cache; expect worse answers."),
    ("quantized:quanto:2", "quantized 2 bits (quanto)", "As small as hqq’s 2 bits; expect worse answers."),
    ("quantized:fp8", "quantized (fp8)", "8-bit floats, on GPUs that have them."),
]
# What an empty form ticks, and what a program asks for that names none.
FIRST_STRATEGIES = ["quantized:hqq:8", "quantized:hqq:4", "quantized:quanto:4", "chunked:512"]
