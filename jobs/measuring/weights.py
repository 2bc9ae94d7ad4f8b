"""Weights in bytes: what the model's parameters and buffers hold."""

import torch


def weights_bytes(model: torch.nn.Module) -> int:
    """Storages of unique parameters and buffers: tied weights once.

    Tensors that are views into one mapped file share its storage; of that, only what they cover counts.
    """
    covered: dict[int, dict[tuple[int, int], None]] = {}
    sizes: dict[int, int] = {}
    for tensor in [*model.parameters(), *model.buffers()]:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        covered.setdefault(storage.data_ptr(), {})[(tensor.storage_offset(), tensor.nbytes)] = None
    return sum(min(size, sum(nbytes for _, nbytes in covered[start])) for start, size in sizes.items())


def parameters(model: torch.nn.Module) -> int:
    """Elements, tied weights once."""
    return sum(parameter.numel() for parameter in model.parameters())
