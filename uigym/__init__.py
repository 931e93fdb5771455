"""uigym turns a web product into a gym for vision-language agents."""

__version__ = "0.1.0"
