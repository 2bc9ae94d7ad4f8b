"""What a team takes away: plain data in, text out."""
