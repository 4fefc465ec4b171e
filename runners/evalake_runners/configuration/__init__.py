"""YAML files read into models: bounds, strict values, and the line of everything that is wrong."""
