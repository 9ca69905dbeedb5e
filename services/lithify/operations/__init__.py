"""The routes of operators: status, probes, metrics, jobs, dead letters, keys and maintenance, in every process."""
