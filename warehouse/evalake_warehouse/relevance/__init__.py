"""What it means for a hit to match a gold item, where SQL alone cannot say it."""
