"""Which files of a Hub model a run needs, how large they are, and which of them are here already."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.file_download import repo_folder_name

from jobs.measuring.hub_refusals import not_a_hub
from jobs.measuring.hub_source import CONFIG_FILE, PATIENCE_S
from jobs.measuring.stored_headers import INDEX_FILE, SINGLE_FILE, folder_tensors, weight_files
from jobs.measuring.weight_source import PICKLES
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal

BESIDE_WEIGHTS = (
    CONFIG_FILE,
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "chat_template.jinja",
)
"""Of these, what the model has. Pickles, other frameworks' weights and folders (original/, onnx/) are never fetched."""


@dataclass(frozen=True, kw_only=True)
class HubFiles:
    """sizes: bytes of every file in the model's own folder, by name. commit: what the revision stands for now."""

    name: str
    commit: str
    sizes: Mapping[str, int]

    @property
    def beside_weights(self) -> tuple[str, ...]:
        return tuple(name for name in BESIDE_WEIGHTS if name in self.sizes)

    @property
    def index(self) -> str | None:
        """The index of weights in several files; None where there is one file, which goes first."""
        return INDEX_FILE if INDEX_FILE in self.sizes and SINGLE_FILE not in self.sizes else None

    def weights(self, index: Path | None) -> tuple[str, ...]:
        """Raises Refusal: load_failed (no safetensors), missing_weights, broken_weights."""
        if SINGLE_FILE in self.sizes:
            return (SINGLE_FILE,)
        if index is None:
            pickled = any(Path(name).match(pattern) for name in self.sizes for pattern in PICKLES)
            raise Refusal(
                "load_failed",
                f"“{self.name}” offers no {SINGLE_FILE}{', only pickles, which are not loaded' if pickled else ''}.",
                "Choose a model with safetensors.",
            )
        return weight_files(self.name, index, there=self.sizes)

    def here(self, name: str) -> bool:
        return isinstance(try_to_load_from_cache(self.name, name, revision=self.commit), str)

    def named(self, name: str) -> Path:
        """The file by its name in the local cache, fetched where its content is not there."""
        return Path(hf_hub_download(self.name, name, revision=self.commit, etag_timeout=PATIENCE_S))

    @property
    def blobs(self) -> Path:
        """The folder of the local cache that holds this model's files by their content."""
        return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=self.name, repo_type="model") / "blobs"


def hub_files(spec: ModelSpec) -> HubFiles:
    """Asks the Hub; raises what its client raises, or Refusal("hub_failed")."""
    told = HfApi().model_info(spec.name, revision=spec.revision, files_metadata=True, timeout=PATIENCE_S)
    sizes = {file.rfilename: int(file.size or 0) for file in told.siblings or () if "/" not in file.rfilename}
    if not told.sha:
        raise not_a_hub()
    return HubFiles(name=spec.name, commit=told.sha, sizes=sizes)


def kept_snapshot(spec: ModelSpec) -> Path | None:
    """The folder in the local cache where this revision's config and weights are whole; None where they are not."""
    config = try_to_load_from_cache(spec.name, CONFIG_FILE, revision=spec.revision)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    try:
        return folder if folder_tensors(spec.name, folder) else None
    except Refusal:
        return None
