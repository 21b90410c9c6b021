"""``rlenv judge calibrate``: a judge's scores beside the labels of people."""
