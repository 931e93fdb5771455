"""Model text to Action and back, one file per model family; coordinates are converted here and nowhere else."""
