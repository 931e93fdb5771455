"""The tables of the mail client, and the words that its columns may hold."""

from __future__ import annotations

SYSTEM_FOLDERS = ("inbox", "archive", "spam", "trash", "sent")
"""Where a conversation may be, beside the owner's own folders; "sent" holds those that nobody has answered yet."""
STATUSES = ("received", "draft", "outbox", "sent")
COLOURS = ("red", "amber", "green", "blue", "violet", "grey")
SCHEMA = """
CREATE TABLE IF NOT EXISTS profile (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, signature TEXT NOT NULL,
  vacation INTEGER NOT NULL, vacation_from TEXT NOT NULL, vacation_until TEXT NOT NULL,
  vacation_subject TEXT NOT NULL, vacation_text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS folders (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, colour TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS threads (
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, folder TEXT NOT NULL, starred INTEGER NOT NULL, unread INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS thread_labels (
  id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads (id),
  label_id INTEGER NOT NULL REFERENCES labels (id), UNIQUE (thread_id, label_id));
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY, thread_id INTEGER REFERENCES threads (id), status TEXT NOT NULL,
  sender_name TEXT NOT NULL, sender TEXT NOT NULL, recipients TEXT NOT NULL, cc TEXT NOT NULL, bcc TEXT NOT NULL,
  subject TEXT NOT NULL, body TEXT NOT NULL, text TEXT NOT NULL, reply_to INTEGER, forward_of INTEGER,
  signature TEXT NOT NULL, sent_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attachments (
  id INTEGER PRIMARY KEY, message_id INTEGER NOT NULL REFERENCES messages (id), name TEXT NOT NULL, type TEXT NOT NULL,
  size INTEGER NOT NULL, sha256 TEXT NOT NULL, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS contacts (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, phone TEXT NOT NULL, company TEXT NOT NULL,
  notes TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS contact_groups (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS group_members (
  id INTEGER PRIMARY KEY, group_id INTEGER NOT NULL REFERENCES contact_groups (id),
  contact_id INTEGER NOT NULL REFERENCES contacts (id), UNIQUE (group_id, contact_id));
CREATE TABLE IF NOT EXISTS rules (
  id INTEGER PRIMARY KEY, from_contains TEXT NOT NULL, subject_contains TEXT NOT NULL,
  label_id INTEGER REFERENCES labels (id), move_to TEXT NOT NULL, mark_read INTEGER NOT NULL, star INTEGER NOT NULL,
  forward_to TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS subscriptions (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, sender TEXT NOT NULL UNIQUE, active INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS seen (thread_id INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, what TEXT NOT NULL, thread_id INTEGER);
CREATE INDEX IF NOT EXISTS messages_by_thread ON messages (thread_id);
CREATE INDEX IF NOT EXISTS attachments_by_message ON attachments (message_id);
CREATE INDEX IF NOT EXISTS labels_by_thread ON thread_labels (thread_id)
"""
"""A conversation is unread if `threads.unread` is 1 and it is not in `seen`, where looking at it puts it: so reading
leaves the mail itself as it was. Addresses in a column are separated by ", ", in the order in which they were given."""
