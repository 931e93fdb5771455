"""Training: demonstrations, rows, advantages, losses, the GRPO loop. Needs the extra `train`."""
