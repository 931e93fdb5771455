"""Model families: how each lays out a conversation with pictures as ids, and how its forward pass wants them."""
