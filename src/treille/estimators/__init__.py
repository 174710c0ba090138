"""Estimators: the scikit-learn interface."""

from treille.estimators.features import Features
from treille.estimators.learned import LearnedRidge, LearnedSVC
from treille.estimators.learned_cv import LearnedRidgeCV, LearnedSVCCV
from treille.estimators.logistic_regression import LogisticRegression, LogisticRegressionCV
from treille.estimators.perceptron import Perceptron
from treille.estimators.persistence import load
from treille.estimators.plan import Plan
from treille.estimators.ridge import Ridge, RidgeCV
from treille.estimators.svc import SVC, SVCCV, OneClassSVM
from treille.estimators.svr import SVR, SVRCV
from treille.estimators.tagger import Tagger

__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "Features",
    "LearnedRidge",
    "LearnedRidgeCV",
    "LearnedSVC",
    "LearnedSVCCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "OneClassSVM",
    "Perceptron",
    "Plan",
    "Ridge",
    "RidgeCV",
    "Tagger",
    "load",
]
