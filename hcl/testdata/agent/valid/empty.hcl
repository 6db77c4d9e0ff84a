# all defaults
