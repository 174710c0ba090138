"""All targets by name."""

from .models import TARGETS_BY_NAME as MODELS

TARGETS = MODELS
