"""All targets by name."""

from .models import TARGETS_BY_NAME as MODELS
from .readers import TARGETS_BY_NAME as READERS

TARGETS = MODELS | READERS
