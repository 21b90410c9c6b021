"""Criteria, their trees and their versions."""
