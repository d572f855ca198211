python: can't open file '/work/wt/direct/big4.py': [Errno 2] No such file or directory
