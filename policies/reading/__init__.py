"""What checks read: stacks, resources, policy documents, and what they say together."""
