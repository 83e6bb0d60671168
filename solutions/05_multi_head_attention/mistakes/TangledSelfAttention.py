"""Known mistakes in TangledSelfAttention; their pages are in TangledSelfAttention.md."""

from grader.authoring import device_mistake, edit

MISTAKES = [
    device_mistake(
        "tangled-mask-on-the-cpu",
        edit(", device=x.device", ""),
        says="the causal mask is always on the CPU, whatever the device of the input is",
        asks="What happens when the input is on a GPU?",
    ),
]
