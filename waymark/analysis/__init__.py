"""The papers' analyses as functions, to be drawn with what runs measure."""
