"""Books: invoices, expenses, bank lines, sheets and reports of a small business."""
