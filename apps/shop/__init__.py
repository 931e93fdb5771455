"""A shop to practise on: a storefront, and the back office behind it."""
