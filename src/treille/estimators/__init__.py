"""Estimators: the scikit-learn interface."""

from treille.estimators.features import Features
from treille.estimators.learned import LearnedRidge, LearnedSVC
from treille.estimators.one_class_svm import OneClassSVM
from treille.estimators.persistence import load
from treille.estimators.plan import Plan
from treille.estimators.ridge import Ridge
from treille.estimators.svc import SVC
from treille.estimators.svr import SVR
from treille.estimators.tagger import Tagger

__all__ = ["SVC", "SVR", "Features", "LearnedRidge", "LearnedSVC", "OneClassSVM", "Plan", "Ridge", "Tagger", "load"]
