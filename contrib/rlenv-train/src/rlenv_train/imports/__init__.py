"""Reward functions of trainers and frameworks as stages of an environment."""
