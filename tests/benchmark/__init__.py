"""Made conversations of our own with questions and floors: a drop in recall shows without outside data."""
