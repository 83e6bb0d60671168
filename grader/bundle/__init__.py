"""The recorded data of an assignment: model, reading and writing."""
