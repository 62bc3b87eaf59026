"""What is asked of private data and what comes back: requests, summaries, profiles, sealed readings; no source."""
