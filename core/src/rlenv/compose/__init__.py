"""Stages and their composition: attributes, functions as stages, composites and their folds."""
