"""The tables of the help desk, and the words that its columns may hold."""

from __future__ import annotations

STATUSES = ("open", "pending", "solved", "closed")
UNFINISHED = ("open", "pending")
"""Those in which a ticket can be overdue."""
PRIORITIES = ("low", "normal", "high", "urgent")
PLANS = ("Free", "Starter", "Team", "Business", "Enterprise")
CHANNELS = ("Email", "Web form", "Chat", "Phone")
DUES = ("overdue", "today", "week", "none")
"""What the list of tickets can be filtered by: due before today, today, in the next seven days, without a due date."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS agents (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT NOT NULL, team TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT NOT NULL, company TEXT NOT NULL,
  plan TEXT NOT NULL, city TEXT NOT NULL, created_at TEXT NOT NULL, notes TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tickets (
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, description TEXT NOT NULL,
  customer_id INTEGER NOT NULL REFERENCES customers (id), assignee_id INTEGER REFERENCES agents (id),
  status TEXT NOT NULL, priority TEXT NOT NULL, channel TEXT NOT NULL, created_at TEXT NOT NULL,
  due_on TEXT, merged_into INTEGER REFERENCES tickets (id));
CREATE TABLE IF NOT EXISTS ticket_tags (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), tag TEXT NOT NULL,
  UNIQUE (ticket_id, tag));
CREATE TABLE IF NOT EXISTS ticket_ccs (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), email TEXT NOT NULL,
  UNIQUE (ticket_id, email));
CREATE TABLE IF NOT EXISTS comments (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), author TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('customer', 'reply', 'note')), body TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attachments (
  id INTEGER PRIMARY KEY, ticket_id INTEGER NOT NULL REFERENCES tickets (id), name TEXT NOT NULL,
  content TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS macros (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL,
  tag TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS views (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, q TEXT NOT NULL, status TEXT NOT NULL, priority TEXT NOT NULL,
  assignee TEXT NOT NULL, tag TEXT NOT NULL, due TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, subject TEXT NOT NULL, subject_id INTEGER NOT NULL,
  what TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS tickets_by_customer ON tickets (customer_id);
CREATE INDEX IF NOT EXISTS comments_by_ticket ON comments (ticket_id);
CREATE INDEX IF NOT EXISTS events_by_subject ON events (subject, subject_id);
"""
