"""Claims of the package, each as a command: ``python -m benchmarks [NAME ...]``."""
