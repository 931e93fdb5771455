"""Is a harness sound? What `uigym check` tries."""
