"""What of this release has been seen to run, where that is not everything. One place, which the pages ask."""

# True once docs/measured.md has figures of a GPU: its section “On a GPU”.
CUDA_VERIFIED = False
NOT_VERIFIED = "CUDA: not verified in this release"
WHY = (
    "Its code has been exercised against a stand-in alone and has run on no GPU yet; make gpu-check tells what holds "
    "on yours."
)


def doubt(device: str) -> str:
    """What to say beside this device ("cpu", "cuda:0", …); nothing where its code has run."""
    return "" if CUDA_VERIFIED or not device.startswith("cuda") else NOT_VERIFIED
