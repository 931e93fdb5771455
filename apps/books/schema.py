"""The tables of the books, and the words that their columns may hold. Money is in cents, dates are ISO dates."""

from __future__ import annotations

STATUSES = ("draft", "sent", "overdue", "paid", "void")
"""Of an invoice as it is shown; "overdue" is what was sent and is due before today, and is not stored."""
CURRENCIES = ("USD", "EUR", "GBP")
SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}
TAXES = (0, 5, 10, 20)
"""Percent."""
METHODS = ("bank transfer", "card", "cash", "cheque")
RECURRING = ("never", "monthly", "quarterly", "yearly")
CATEGORIES = ("advertising", "insurance", "office supplies", "rent", "software", "telephone", "travel", "utilities", "vehicles")  # fmt: skip
EXPENSE_STATUSES = ("submitted", "approved", "rejected")
FORMATS = ("", "number", "money", "percent")
"""Of a cell: as it is, 1,234.50, $1,234.50, 12.5%."""
COLUMNS, ROWS = 12, 40
"""Of a sheet."""
WIDTH = 88
"""Of a sheet's column, CSS px, if none is stored."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, company TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL,
  street TEXT NOT NULL, city TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS suppliers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, city TEXT NOT NULL,
  category TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS products (
  id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, unit TEXT NOT NULL, price INTEGER NOT NULL,
  tax INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS invoices (
  id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, customer_id INTEGER NOT NULL,
  reference TEXT NOT NULL, issued_on TEXT NOT NULL, due_on TEXT NOT NULL, currency TEXT NOT NULL, status TEXT NOT NULL,
  recurring TEXT NOT NULL, notes TEXT NOT NULL, net INTEGER NOT NULL, tax INTEGER NOT NULL, total INTEGER NOT NULL,
  paid INTEGER NOT NULL, credits_id INTEGER);
CREATE TABLE IF NOT EXISTS invoice_lines (
  id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL, description TEXT NOT NULL, quantity NUMERIC NOT NULL,
  price INTEGER NOT NULL, tax INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS payments (
  id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL, paid_on TEXT NOT NULL, amount INTEGER NOT NULL,
  method TEXT NOT NULL, bank_line_id INTEGER);
CREATE TABLE IF NOT EXISTS expenses (
  id INTEGER PRIMARY KEY, supplier_id INTEGER NOT NULL, category TEXT NOT NULL, reference TEXT NOT NULL,
  description TEXT NOT NULL, spent_on TEXT NOT NULL, amount INTEGER NOT NULL, tax INTEGER NOT NULL, status TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS receipts (
  id INTEGER PRIMARY KEY, expense_id INTEGER NOT NULL, name TEXT NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
  content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS bank_lines (
  id INTEGER PRIMARY KEY, booked_on TEXT NOT NULL, text TEXT NOT NULL, amount INTEGER NOT NULL,
  matched TEXT NOT NULL, matched_id INTEGER);
CREATE TABLE IF NOT EXISTS sheets (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS cells (
  sheet_id INTEGER NOT NULL, cell TEXT NOT NULL, raw TEXT NOT NULL, bold INTEGER NOT NULL, format TEXT NOT NULL,
  PRIMARY KEY (sheet_id, cell));
CREATE TABLE IF NOT EXISTS widths (
  sheet_id INTEGER NOT NULL, col TEXT NOT NULL, width INTEGER NOT NULL, PRIMARY KEY (sheet_id, col));
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, subject TEXT NOT NULL, subject_id INTEGER NOT NULL, what TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS lines_by_invoice ON invoice_lines (invoice_id);
CREATE INDEX IF NOT EXISTS payments_by_invoice ON payments (invoice_id);
CREATE INDEX IF NOT EXISTS invoices_by_customer ON invoices (customer_id);
CREATE INDEX IF NOT EXISTS events_by_subject ON events (subject, subject_id)
"""
