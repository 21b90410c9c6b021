"""The command line: ``rlenv score | verify | plugins | stages | envs | doctor``; one file per command or idea."""
