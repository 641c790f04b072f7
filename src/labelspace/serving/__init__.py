"""What a trained model does for others: tables of predictions, a card, an ONNX file, a folder to take home."""

from labelspace import _application  # noqa: F401 (raises where the extra is missing)
