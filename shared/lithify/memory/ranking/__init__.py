"""How candidates are scored, ordered, fused and freed of duplicates (specs 02, 08 and 10)."""
