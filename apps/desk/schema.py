"""The tables of the help desk, and the words that its columns may hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUSES = ("open", "pending", "solved", "closed")
PRIORITIES = ("low", "normal", "high", "urgent")
PLANS = ("Free", "Starter", "Team", "Business", "Enterprise")
CHANNELS = ("Email", "Web form", "Chat", "Phone")
TABLES = ("settings", "agents", "customers", "tickets", "ticket_tags", "comments", "events")

SCHEMA = """
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS agents (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT NOT NULL, team TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, company TEXT NOT NULL,
  plan TEXT NOT NULL, city TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tickets (
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, description TEXT NOT NULL,
  customer_id INTEGER NOT NULL REFERENCES customers (id), assignee_id INTEGER REFERENCES agents (id),
  status TEXT NOT NULL, priority TEXT NOT NULL, channel TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ticket_tags (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), tag TEXT NOT NULL,
  UNIQUE (ticket_id, tag));
CREATE TABLE IF NOT EXISTS comments (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), author TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('customer', 'reply', 'note')), body TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, subject TEXT NOT NULL, subject_id INTEGER NOT NULL,
  what TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS tickets_by_customer ON tickets (customer_id);
CREATE INDEX IF NOT EXISTS comments_by_ticket ON comments (ticket_id);
CREATE INDEX IF NOT EXISTS events_by_subject ON events (subject, subject_id);
"""


@contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose work is committed at the end, or undone if the block raises; rows read by column name.

    Durability is given up for speed: the data can be made again from its seed.
    """
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    connection.row_factory = sqlite3.Row
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()  # rolls back what was not committed
