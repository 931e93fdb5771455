"""A help desk to practise on: customers, tickets, conversations, agents."""
