"""Reading: what one answer says by itself, how it ended, and whether it loops."""
