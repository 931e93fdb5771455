"""The shop: how to start, reset and read it, and what an agent must do in the store and in the back office."""

from uigym.harnesses.shop import account, cart, orders, products, questions
from uigym.harnesses.shop.product import SHOP

__all__ = ["SHOP", "account", "cart", "orders", "products", "questions"]
