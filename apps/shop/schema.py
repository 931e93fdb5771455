"""The shop's tables."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE IF NOT EXISTS categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL, position INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS products (
    id INTEGER PRIMARY KEY, category_id INTEGER NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,
    picture TEXT NOT NULL, compare_at INTEGER, visible INTEGER NOT NULL, created_on TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS variants (
    id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, sku TEXT NOT NULL, colour TEXT NOT NULL, size TEXT NOT NULL,
    price INTEGER NOT NULL, stock INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS variants_of ON variants (product_id);
CREATE TABLE IF NOT EXISTS reviews (
    id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, author TEXT NOT NULL, rating INTEGER NOT NULL,
    title TEXT NOT NULL, body TEXT NOT NULL, written_on TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS reviews_of ON reviews (product_id);
CREATE TABLE IF NOT EXISTS customers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, company TEXT NOT NULL,
    note TEXT NOT NULL, since TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS addresses (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, name TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL,
    postal_code TEXT NOT NULL, country TEXT NOT NULL, is_default INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS discounts (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL, kind TEXT NOT NULL, value INTEGER NOT NULL, minimum INTEGER NOT NULL,
    starts_on TEXT NOT NULL, ends_on TEXT);
CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, name TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL,
    postal_code TEXT NOT NULL, country TEXT NOT NULL, delivery TEXT NOT NULL, card TEXT NOT NULL, subtotal INTEGER NOT NULL,
    code TEXT NOT NULL, discount INTEGER NOT NULL, shipping INTEGER NOT NULL, total INTEGER NOT NULL,
    refunded INTEGER NOT NULL, fulfilment TEXT NOT NULL, note TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS orders_of ON orders (customer_id);
CREATE TABLE IF NOT EXISTS order_lines (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, variant_id INTEGER NOT NULL, title TEXT NOT NULL, variant TEXT NOT NULL,
    price INTEGER NOT NULL, quantity INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS lines_of ON order_lines (order_id);
CREATE TABLE IF NOT EXISTS order_tags (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, tag TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS refunds (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, amount INTEGER NOT NULL, reason TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS returns (
    id INTEGER PRIMARY KEY, line_id INTEGER NOT NULL, quantity INTEGER NOT NULL, reason TEXT NOT NULL, resolution TEXT NOT NULL,
    status TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cart_lines (id INTEGER PRIMARY KEY, variant_id INTEGER NOT NULL, quantity INTEGER NOT NULL, saved INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS checkout (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL, name TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL,
    postal_code TEXT NOT NULL, country TEXT NOT NULL, delivery TEXT NOT NULL, card TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS wishes (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS adjustments (
    id INTEGER PRIMARY KEY, variant_id INTEGER NOT NULL, delta INTEGER NOT NULL, reason TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, subject TEXT NOT NULL, subject_id INTEGER NOT NULL, what TEXT NOT NULL)
"""
"""Money is in cents. `checkout` is one row: what the customer has entered of the order that is not placed yet."""

FULFILMENTS = ("unfulfilled", "fulfilled", "cancelled")
PAYMENTS = ("paid", "partly refunded", "refunded")
RETURN_REASONS = ("too small", "too large", "damaged", "wrong item", "changed my mind")
RESOLUTIONS = ("refund", "exchange")
STOCK_REASONS = ("stocktake", "damaged", "received", "returned", "lost")
DELIVERIES = {
    "standard": ("Standard", 500, "3–5 days"),
    "express": ("Express", 1500, "1–2 days"),
    "pickup": ("Pick-up", 0, "In the shop"),
}
"""Method: (title, price in cents, how long)."""
FREE_FROM = 10_000
"""From this subtotal on, cents, standard delivery costs nothing."""
LOW_STOCK = 5
"""So many or fewer are low stock."""
COUNTRIES = {
    "Austria": r"\d{4}", "Canada": r"[A-Z]\d[A-Z] ?\d[A-Z]\d", "Denmark": r"\d{4}", "France": r"\d{5}", "Germany": r"\d{5}",
    "Ireland": r"[A-Z]\d[\dW] ?[A-Z\d]{4}", "Italy": r"\d{5}", "Japan": r"\d{3}-\d{4}", "Netherlands": r"\d{4} ?[A-Z]{2}",
    "Norway": r"\d{4}", "Portugal": r"\d{4}-\d{3}", "South Korea": r"\d{5}", "Spain": r"\d{5}", "Sweden": r"\d{3} ?\d{2}",
    "Switzerland": r"\d{4}", "United Kingdom": r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}", "United States": r"\d{5}(-\d{4})?",
}  # fmt: skip
"""Where the shop delivers, and how a postal code looks there."""
