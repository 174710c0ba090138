"""Estimators: the scikit-learn face."""

from treille.estimators.features import Features
from treille.estimators.one_class_svm import OneClassSVM
from treille.estimators.persistence import load
from treille.estimators.svc import SVC

__all__ = ["SVC", "Features", "OneClassSVM", "load"]
