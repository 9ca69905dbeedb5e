"""Makes model folders: fetches weights, writes ONNX graphs, checks them before anybody can load them."""
