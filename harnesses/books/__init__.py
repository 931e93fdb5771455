"""Bookkeeping: how to start, reset and read it, and what an agent must do in it."""

from uigym.harnesses.books import bank, expenses, invoices, records, reports, sheets, struggles
from uigym.harnesses.books.product import BOOKS

__all__ = ["BOOKS", "bank", "expenses", "invoices", "records", "reports", "sheets", "struggles"]
