"""Calendar and kanban boards: one page drawn in the browser, changed by JSON requests."""
