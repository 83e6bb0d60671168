"""Known mistakes in TransparentSelfAttention; their pages are in TransparentSelfAttention.md."""

from grader.authoring import device_mistake, edit

MISTAKES = [
    device_mistake(
        "transparent-mask-on-the-cpu",
        edit(", device=x.device", ""),
        says="the causal mask is made on the CPU, wherever the input lives",
        asks="What happens when the input lies on a graphics card?",
    ),
]
