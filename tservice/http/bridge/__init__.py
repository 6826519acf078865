"""The listener for hooks from containers, which answers nothing else."""
