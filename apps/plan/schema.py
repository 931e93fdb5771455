"""The tables of the planner."""

from __future__ import annotations

REPEATS = ("none", "daily", "weekly", "monthly")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SCHEMA = """
CREATE TABLE IF NOT EXISTS people (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT NOT NULL, role TEXT NOT NULL, zone TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS calendars (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, colour TEXT NOT NULL, owner_id INTEGER NOT NULL REFERENCES people (id),
  writable INTEGER NOT NULL, visible INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY, calendar_id INTEGER NOT NULL REFERENCES calendars (id), title TEXT NOT NULL, place TEXT NOT NULL,
  starts TEXT NOT NULL, ends TEXT NOT NULL, all_day INTEGER NOT NULL, zone TEXT NOT NULL,
  repeat TEXT NOT NULL CHECK (repeat IN ('none', 'daily', 'weekly', 'monthly')), weekdays TEXT NOT NULL, until TEXT,
  count INTEGER, reminder INTEGER, notes TEXT NOT NULL, colour TEXT NOT NULL, guests TEXT NOT NULL,
  series_id INTEGER, series_day TEXT);
CREATE TABLE IF NOT EXISTS skips (
  id INTEGER PRIMARY KEY, event_id INTEGER NOT NULL REFERENCES events (id), day TEXT NOT NULL, UNIQUE (event_id, day));
CREATE TABLE IF NOT EXISTS boards (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS columns (
  id INTEGER PRIMARY KEY, board_id INTEGER NOT NULL REFERENCES boards (id), name TEXT NOT NULL, position REAL NOT NULL,
  wip_limit INTEGER);
CREATE TABLE IF NOT EXISTS cards (
  id INTEGER PRIMARY KEY, column_id INTEGER NOT NULL REFERENCES columns (id), position REAL NOT NULL, title TEXT NOT NULL,
  description TEXT NOT NULL, assignee_id INTEGER REFERENCES people (id), due TEXT, archived INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, colour TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS card_labels (
  card_id INTEGER NOT NULL REFERENCES cards (id), label_id INTEGER NOT NULL REFERENCES labels (id),
  PRIMARY KEY (card_id, label_id));
CREATE TABLE IF NOT EXISTS items (
  id INTEGER PRIMARY KEY, card_id INTEGER NOT NULL REFERENCES cards (id), text TEXT NOT NULL, done INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS comments (
  id INTEGER PRIMARY KEY, card_id INTEGER NOT NULL REFERENCES cards (id), author_id INTEGER NOT NULL REFERENCES people (id),
  body TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS activity (
  id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, what TEXT NOT NULL, subject TEXT NOT NULL,
  subject_id INTEGER NOT NULL);
"""
"""Of an event: `starts` and `ends` are "2026-03-05 10:00" in its zone, or both a day where it lasts all day (the last one
included); `weekdays` is "mon,wed"; `reminder` is minutes before; `guests` is "3,7", people by id; one that was taken out
of a series says which and which day of it. A card or column stands between its neighbours by `position`."""
