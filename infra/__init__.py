"""AWS infrastructure for blueprints: the only room that knows CDK Terrain."""
