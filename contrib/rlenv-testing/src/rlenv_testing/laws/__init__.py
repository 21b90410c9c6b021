"""The laws of rewards, one test each, parametrized over the stages of a plugin and their examples.

``pytest --pyargs rlenv_testing.laws --rlenv-plugin NAME`` runs them, as ``rlenv check NAME`` does.
A verifier V of a task t and a response r, with a right response g, has these properties; each
stands with its laws:

=================================================
========================================================== property
law =================================================
==========================================================
 1 V is a finite float in [0, 1]                   range
 2 any r gets a verdict                            total, unscored
 3 V ends in time, whatever the size of r          limits; loop for async stages, inline for inline
 ones 4 V(t, r) is the same when asked again            repeats 5 and in another process
 hash-seed, locale, time-zone, clock, working-directory 6 a batch permuted gives its results
 permuted     order; group for stages that judge a group 7 a batch gives what single calls give
 batch 8 what came before does not matter                order 9 threads and tasks give the serial
 results       together
10 V(t, g) passes                                  right-passes; wrong-fails is its other half
11 the g of another task does not pass             swap
12 empty, blank and punctuation do not pass        empty
13 the prompt does not pass                        echo
14 no constant passes                              constants, refusals
15 rewrites that keep the meaning keep V           keeps
16 rewrites that change it lower V                 changes
17 junk around an answer never raises V            padding
18 several answers earn no more than one           hedging
21 a failed gate ends the pipeline with 0          gate
22 a raised score never lowers the total           monotone (composites)
23 the total lies within the scores                hull (composites)
24 t and all that is shared stay as they are       task-untouched, globals-untouched, leaves-nothing
25 the answer is in no public field                secrecy
26 text that looks like a verdict changes nothing  forged
27 known exploits do not pass                      attacks
29 neutral padding never raises V                  padding
30 a broken verifier is a fault, never a 0         broken; broken-child (composites)
32 results survive JSON                            serializable
=================================================
==========================================================

The others are no properties of a plain stage: 19 and 20 (normal forms, symmetric equality) concern
functions that a stage does not show, 28 (slots of a pair) and 31 (caches) of judges, 33 to 35
(masks, noise, reset) of episodes.  The laws contract, uses, artifacts, travels and reach hold a
stage to what it declares of itself.
"""

from __future__ import annotations

from importlib import import_module

FAMILIES = (
    "contract",
    "broken",
    "examples",
    "lunch",
    "hedging",
    "meaning",
    "secrecy",
    "reach",
    "determinism",
    "purity",
    "limits",
    "algebra",
)


def load() -> None:
    """Import every family, so that ``law.LAWS`` is complete."""
    for family in FAMILIES:
        import_module(f"{__name__}.test_{family}")
