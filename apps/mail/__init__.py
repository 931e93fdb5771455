"""A web mail client: conversations, labels, rules, search, contacts, and writing mail with formatted text and files."""
