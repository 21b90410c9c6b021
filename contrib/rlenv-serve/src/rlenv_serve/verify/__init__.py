"""``/v1/verify``, and the routes of trainers that bring responses to be judged."""
