"""Claims of the package, each as a command: ``python -m benchmarks [NAME ...]``."""

import os

# NumPy asks for large arrays in huge pages. On some virtual machines the first touch of those takes twenty times as
# long as that of ordinary pages, unless another process has touched them before: times would tell the history of the
# machine. For all methods alike, and before NumPy is loaded.
os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
