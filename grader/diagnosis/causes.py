"""The cause of an exception, in the words of the course: what met on the student's line, and what to change there.

CAUSES is a table: what the message says → the sentence. So every form of a mistake that raises gets its sentence, also
a form that no known mistake has.
"""

from __future__ import annotations

import re

from grader.judge.observation import StudentError
from grader.report.finding import Fact
from grader.support.i18n import _
from grader.support.sanitize import sanitize

# A pattern for the message, then one for the line after LINE; a row fits if both do. Their groups are in the sentence.
LINE = " on "
CAUSES = (
    # values of another type
    (r"'NoneType' object has no attribute '(\w+)'.* on .*?\b(\w*(?:len|mask)\w*)\.\1\b", "`{1}` is None here: without lengths, nothing is masked"),
    (r"'NoneType' object is not (subscriptable).* on .*?\b(\w*(?:len|mask)\w*)\[", "`{1}` is None here: without lengths, nothing is masked"),
    (r"'NoneType' object has no attribute '(\w+)'.* on .*?([\w.]+)\.\1\b", "`{1}` is None here"),
    (r"'NoneType' object|and 'NoneType'|not NoneType", "a value is None here"),
    (r"Boolean value of Tensor.* on .*?\b(?:if|while|not)\s+(?:not\s+)?([\w.\[\]]+)\s*:", "`if` needs a single value, and `{0}` is a tensor with several: compare it with None, or use any() or all()"),
    (r"Boolean value of Tensor", "`if`, `and`, `or` and `not` need a single value, and this is a tensor with several"),
    (r"only one element tensors can be converted.* on .*?\bmath\.(\w+)", "`math.{0}` computes with one number: for a tensor, use `torch.{0}`"),
    (r"only one element tensors|a Tensor with \d+ elements cannot be converted", "a tensor with several values stands where one number is meant"),
    (r"Can't call numpy\(\) on Tensor", "NumPy computes no gradients: use functions of torch"),
    (r"^(\w+)\(\): argument '\w+'.* must be Tensor, not (?:int|float)\b", "`{0}` of torch needs a tensor, and gets a number: for numbers, use `math`"),
    (r"^(\w+)\(\): argument '\w+'.* must be Tensor, not ([A-Z]\w+)", "a layer, `{1}`, stands where a tensor is meant: construct it first, then call it with the tensor"),
    (r"but got list|must be Tensor, not list", "a list of tensors stands where a tensor is meant: join it with `torch.stack` or `torch.cat`, or pass its items with `*`"),
    (r"must be tuple of ints,? ?but got float|'float' object cannot be interpreted as an integer|must be .*int.*, not float", "a size is a float: divide sizes with `//`"),
    (r"'tuple' object has no attribute|must be Tensor, not tuple|and 'tuple'|tuple indices must", "a tuple stands where a tensor is meant: a call returned several values, and they are not taken apart"),
    (r"'list' object has no attribute '(\w+)'", "a list stands where a tensor is meant: a list has no `{0}`"),
    (r"'(?:int|float)' object is not iterable|of type '(?:int|float)' has no len", "a single number stands where several are meant"),
    (r"'builtin_function_or_method' object.* on .*?\.(\w+)(?!\()\b[.\[ ]", "a method is not called: write `{0}()`"),
    (r"cannot assign '.*' as parameter '(\w+)'", "`{0}` is a parameter of the layer: wrap the new tensor in `nn.Parameter`"),
    (r"^(.+?) is not in list on", "{0} is looked up in a list that may not hold it: say what happens then"),
    (r"'(\w*Tensor)' object is not callable", "a tensor is called like a function: is an operator missing before the bracket?"),
    (r"'(?:int|float|tuple)' object is not callable", "a value is called like a function: is an operator missing before the bracket?"),
    (r"only supports boolean masks|bitwise_not|expected BoolTensor", "the mask holds numbers: it must be True and False, as a comparison gives it"),
    (r"(?:expected|same) .*(?:dtype|scalar type)|can't be cast|expected scalar type", "tensors of two dtypes meet"),
    (r"without overflow", "the fill value is too large for the dtype: use -1e6, or float('-inf')"),
    # names and calls
    (r"object has no attribute '(\w+)'.* on .*self\.\1\b", "nothing has set `self.{0}` before this line reads it: set it in `__init__`"),
    (r"property '(\w+)' of .* has no setter", "`{0}` is a property without a setter: store the value under another name, and return it there"),
    (r"variable '(\w+)'.*(?:before assignment|not associated)", "`{0}` is read here, and the lines that set it did not run"),
    (r"(\w+)\(\) missing \d+ required .*?'(\w+)'.* on def ", "`{0}` is called without `{1}`: give this parameter a default value"),
    (r"([\w.]+)\(\) missing \d+ required .*?: (.*?) on ", "the call leaves out {1}"),
    (r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", "`{0}` has no parameter `{1}`"),
    (r"got multiple values for argument '(\w+)'", "`{0}` is passed twice: by its place and by its name"),
    (r"Sequential\.forward\(\) takes", "`nn.Sequential` passes one value from layer to layer: call the layers in a loop"),
    (r"([\w.]+)\(\) takes .*positional arguments? but \d+", "this call passes more arguments than `{0}` takes"),
    (r"dropout probability has to be between 0 and 1, but got (\S+)", "the dropout rate is {0}: another argument stands in its place"),
    (r"(\w+) should be of type (\w+), got: (\w+)", "the argument `{0}` gets a {2}: another argument stands in its place, so pass it by name"),
    (r"before Module.__init__", "`super().__init__()` must run before a layer is set"),
    (r"RecursionError", "a function calls itself without end"),
    (r"^(\w+) is not among the building blocks", "this exercise asks for your own code in the place of `{0}`"),
    (r"^'(\w+)' on def ", "the result has no entry `{0}`"),
    # axes
    (r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)", "the tensor has {0} axes here, and `permute` names {1}"),
    (r"(batch\d) must be a 3D tensor", "`bmm` needs two tensors with three axes"),
    (r"not enough values to unpack \(expected (\d+), got (\d+)\)", "{0} names wait for values, and there are {1}"),
    (r"too many values to unpack \(expected (\d+)", "there are more than {0} values for {0} names"),
    (r"Dimension out of range .*but got (-?\d+)", "the tensor has no axis {0} here"),
    (r"too many indices for tensor of dimension (\d+)", "the tensor has only {0} axes here"),
    (r"[Ii]ndex (-?\d+) is out of bounds for dimension (\d+) with size (\d+)", "position {0} of axis {1} is read, and this axis has {2}"),
    (r"index out of range in self", "a token is not smaller than the number of embeddings"),
    # sizes
    (r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", "{0} features meet a layer or a matrix for {1}"),
    (r"to be: \[(\d+), (\d+)\] but got: \[\1, (\d+)\]", "in this product, the left tensor has {1} columns and the right one {2} rows: they must be the same axis"),
    (r"to be: \[(\d+), \d+\] but got: \[(\d+), \d+\]", "in this product, the left tensor holds {0} matrices and the right one {1}"),
    (r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)", "a table with {2} columns meets {3} values"),
    (r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*dimension (\d+)", "two tensors meet with {0} and {1} on axis {2}, where they must agree: check the number and the order of their axes"),
    (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\).*dimension (\d+).* on .*\[.*\]\s*=[^=]", "{1} values are assigned to {0} places on axis {2}: the index on the left should take {1} places, such as every second one"),
    (r"expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\)", "{1} values cannot be spread over {0} places: insert an axis of size 1 where the values repeat"),
    (r"shape mismatch: value tensor of shape (\[[\d, ]*\]) cannot be broadcast to .*?(\[[\d, ]*\])", "values of shape {0} are assigned to places of shape {1}"),
    (r"shape of the mask (\[[\d, ]*\]).* does not match .*tensor (\[[\d, ]*\])", "a mask of shape {0} meets a tensor of shape {1}"),
    (r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)", "{1} values do not fit into the shape {0}"),
    (r"view size is not compatible", "`view` cannot follow an exchange of axes: use `reshape`"),
    (r"unflatten: Provided sizes (\[[-\d, ]*\]) .*size of dim \d+ \((\d+)\)", "{1} features cannot be split as {0}"),
    (r"Expected size (\d+) but got size (\d+)", "tensors that are joined have {0} and {1} on another axis, which must agree"),
    (r"Expected hidden size \(([\d, ]*)\), got \[([\d, ]*)\]", "the state of the recurrent layer has the shape ({1}), and this input asks for ({0}): batch and time are exchanged, or `batch_first` does not fit"),
    (r"output with shape (\[[\d, ]*\]) doesn't match the broadcast shape (\[[\d, ]*\])", "an operation in place cannot make a tensor of shape {0} larger, to {1}: write the result into a new tensor"),
    (r"Expected target size \[([\d, ]*)\], got \[([\d, ]*)\]", "`cross_entropy` takes the classes on axis 1 of the scores, (B, V, T), and labels (B, T); from these scores it expects labels ({0}), and gets ({1})"),
    (r"normalized_shape=\[([\d, ]*)\].* size ?\[.*?(\d+)\]", "the normalisation is for {0} features, and {1} arrive"),
    # gradients
    (r"backward through the graph a second time", "the graph of one result is used for two gradients: compute the result anew for each, or keep the graph"),
    (r"modified by an inplace operation|leaf Variable that requires grad", "a tensor that gradients need is changed in place: write the result into a new tensor"),
    (r"does not require grad|not have been used in the graph", "no gradient flows here: the result is cut off, or does not use this tensor"),
)  # fmt: skip
MOST = 4  # shapes that are named
_TABLE = [(re.compile(pattern), says) for pattern, says in CAUSES]


def causes(error: StudentError) -> list[Fact]:
    """Return the cause of an exception, and the shapes of the tensors on its line; [] if no row of the table fits."""
    line = error.where[2] if error.where else ""
    text = sanitize(f"{error.message.splitlines()[0] if error.message else error.type}{LINE}{line}", 600)
    text = text if error.type != "RecursionError" else error.type
    for pattern, says in _TABLE:
        if found := pattern.search(text):
            return [Fact("cause", {"cause": _(says).format(*found.groups())}), *_shapes(error)]
    return []


def _shapes(error: StudentError) -> list[Fact]:
    shown = [f"`{name}` {shape}" for name, shape in error.shapes[:MOST]]
    return [Fact("shapes-here", {"shapes": ", ".join(shown)})] if shown else []
