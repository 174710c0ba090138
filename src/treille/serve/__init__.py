"""A model behind HTTP: predictions and explanations as JSON, and a page to try it. Needs the extra `treille[serve]`."""
