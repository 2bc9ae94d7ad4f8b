"""How many layers of each kind a model has, and the windows of those that have one."""

from jobs.sizing.record import InspectionRecord, LayerGroup, LayerKind


def layer_counts(record: InspectionRecord) -> dict[str, int]:
    """Kind -> layers; every kind is there. A window beside which a pool grows with the tokens counts as growing."""
    return {str(kind): sum(group.count for group in record.layers if _kind(group) is kind) for kind in LayerKind}


def _kind(group: LayerGroup) -> LayerKind:
    return LayerKind.GROWING if group.pool or group.pool_float32 else group.kind


def window_tokens(record: InspectionRecord) -> int | None:
    """The widest window's tokens, as the config names it; None where no layer has one."""
    windows = [group.static_window_tokens for group in record.layers if group.static_window_tokens is not None]
    return max(windows, default=None)
