"""What a sweep file may say, with the line of everything that is wrong in it."""
