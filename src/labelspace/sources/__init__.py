"""Where label spaces come from: pure functions that return a LabelSpace, one file each."""
