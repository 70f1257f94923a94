"""The report: one self-contained HTML file for a fitted estimator."""

from stepsmooth.report.page.writing import write

__all__ = ["write"]
