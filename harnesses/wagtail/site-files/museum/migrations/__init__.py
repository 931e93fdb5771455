"""How the database came to be."""
