"""How a measurement is shown to people: Markdown, and one HTML page."""
