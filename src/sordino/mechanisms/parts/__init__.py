"""What several mechanisms are built from: laws, base measures, rings, draws, prices. No mechanism lives here."""
