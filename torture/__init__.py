"""Campaigns that kill, starve and crowd every writer of a lake, and count what is wrong after."""
