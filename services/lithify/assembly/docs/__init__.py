"""Documents of repositories over HTTP: their service, routes and schema."""
