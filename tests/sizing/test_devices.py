"""The devices that are asked about, each with its sources."""

from urllib.parse import urlsplit

from jobs.sizing.devices import devices
from jobs.sizing.units import GIB


def test_the_devices_are_in_the_order_of_their_memory() -> None:
    sizes = [device.usable_bytes for device in devices()]
    assert sizes == sorted(sizes)
    assert len(sizes) >= 12


def test_a_device_gives_programs_less_than_as_many_gib_as_the_vendor_says_gb() -> None:
    """Vendors say 24 GB of what is at most 24 GiB, or of 24 × 10^9 bytes; programs find less than the former."""
    for device in devices():
        assert 0.9 * device.vendor_gb * 10**9 < device.usable_bytes < device.vendor_gb * GIB, device.name


def test_every_figure_names_the_page_it_was_read_from() -> None:
    for device in devices():
        for source in (device.vendor_source, device.reported_source):
            parts = urlsplit(source)
            assert (parts.scheme, bool(parts.netloc)) == ("https", True), device.name


def test_what_nvidia_smi_says_is_told_apart_from_what_a_program_gets() -> None:
    assert {device.reported_by for device in devices()} == {"PyTorch", "nvidia-smi"}
    assert next(device for device in devices() if device.name == "L4").reported_by == "nvidia-smi"


def test_a_figure_is_read_to_the_byte() -> None:
    assert next(device for device in devices() if device.name == "A100, 40 GB").usable_bytes == 42_298_834_944
    assert next(device for device in devices() if device.name == "H200").usable_bytes == 143_771 * 2**20
