"""Questions about before, after and how long: anchors, event slots and their joint coverage (spec 09)."""
