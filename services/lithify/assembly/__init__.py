"""The assembly service: reads vectors, the recent tail and rules, and answers searches and prompt assemblies."""
