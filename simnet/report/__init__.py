"""Results as text and HTML: tables in the formats of tools, comparisons, reports."""
