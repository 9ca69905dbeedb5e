"""What goes into the prompt, at what price, in which words: budget, tail, packing, rendering (specs 02, 07, 08)."""
