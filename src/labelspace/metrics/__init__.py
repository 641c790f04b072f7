"""Metrics: plain functions of tensors that return numbers, usable without training or criterion."""

from labelspace.metrics.accuracy import accuracy, balanced_accuracy, confusion_counts, level_accuracy, quadratic_kappa
from labelspace.metrics.cost import (
    CostlyConfusion,
    costliest_confusions,
    expected_cost,
    severity,
    top_cost,
    value_mse,
)
from labelspace.metrics.curves import (
    RiskCoverage,
    accuracy_curve_area,
    epochs_saved,
    risk_coverage_area,
    risk_coverage_curve,
)
from labelspace.metrics.intervals import Chances, Interval, chances, equivalent, paired_interval
from labelspace.metrics.probability import brier, calibration_error, class_calibration_error, nll
from labelspace.metrics.probes import StudentAccuracy, linear_probe, student_accuracy, superclass_accuracy
from labelspace.metrics.resampled import metric_interval
from labelspace.metrics.significance import corrected_interval, effective_samples, holm, sign_flip_test, smallest_effect

__all__ = [
    "Chances",
    "CostlyConfusion",
    "Interval",
    "RiskCoverage",
    "StudentAccuracy",
    "accuracy",
    "accuracy_curve_area",
    "balanced_accuracy",
    "brier",
    "calibration_error",
    "chances",
    "class_calibration_error",
    "confusion_counts",
    "corrected_interval",
    "costliest_confusions",
    "effective_samples",
    "epochs_saved",
    "equivalent",
    "expected_cost",
    "holm",
    "level_accuracy",
    "linear_probe",
    "metric_interval",
    "nll",
    "paired_interval",
    "quadratic_kappa",
    "risk_coverage_area",
    "risk_coverage_curve",
    "severity",
    "sign_flip_test",
    "smallest_effect",
    "student_accuracy",
    "superclass_accuracy",
    "top_cost",
    "value_mse",
]
