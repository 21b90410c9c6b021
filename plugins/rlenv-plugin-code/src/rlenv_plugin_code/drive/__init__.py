"""The judge's side of a run: it asks, measures, and takes nothing for more than an answer.

``box``       sandboxes, profiles and sessions
``clock``     the budget of one response
``link``      frames in lockstep, and what the end of a program says
``function``  calls of a function          ``stdio``   programs on text
``asserts``   tests that call a proxy      ``golden``  inputs and the outputs of a correct program
"""
