"""Writing sequences with a trained network, and telling how good they are."""
