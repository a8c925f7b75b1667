"""The papers' analyses as functions, to be drawn beside what runs measure."""
