"""What a person or a scheduler calls: plan, launch, watch, report."""
