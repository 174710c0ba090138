"""Data to try things on: functions of the standard library, and public sets from a folder."""

from .functions import functions
from .public import data_folder, fastsk, fisher_callhome, reuters

__all__ = ["data_folder", "fastsk", "fisher_callhome", "functions", "reuters"]
