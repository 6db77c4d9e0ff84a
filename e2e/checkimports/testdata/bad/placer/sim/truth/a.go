package truth
