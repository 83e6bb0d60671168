"""Attacks that search for the answer instead of computing it: in memory, files and other processes."""

from attacks.suite import Attack, calling, control, gated
from helpers.hostile_sources import READS_THE_ANSWER

FAMILY = "knowing instead of computing"

# Classes of the grader that hold answers. No instance may be reachable in a worker's memory.
_NAMES = '("RecordedCase", "Bundle", "Check", "Finding", "KnownMistake", "Engine", "Signatures")'

# Store a building block that one exercise allows, and use it in another exercise that does not allow it. The
# definitions of `keep`, which stores the block, and `back`, which returns it, replace @KEEP@.
_LATER = """
import torch
from torch import nn
def take():
    from grader.given import masked_softmax as block
    block(torch.ones(1, 1, 1), None)  # the stand-in for a withheld block raises
    return block
@KEEP@
class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
    def forward(self, queries, keys, values, valid_lens=None):
        keep(take())
        return values
class AdditiveAttention(nn.Module):
    def __init__(self, **sizes):
        super().__init__()
        keep(take())
try:
    keep(take())
except BaseException:
    pass
def masked_softmax(X, valid_lens):
    return back()(X, valid_lens)
"""


def kept(id: str, tries: str, keep: str) -> Attack:
    """Return an attack that stores a building block. keep: the source of `keep` and `back`."""
    return Attack(
        id,
        tries,
        _LATER.replace("@KEEP@", keep),
        success="the answer of the building block",
        before=("AdditiveAttention", "DotProductAttention"),
    )


ATTACKS = (
    gated(
        "frames",
        "searches all frames for expected outputs",
        f"""
        frame = sys._getframe()
        while frame is not None:
            names = set(frame.f_locals) | set(frame.f_globals)
            if any(type(v).__name__ in {_NAMES} for v in frame.f_locals.values()) or "expected" in names:
                return True
            frame = frame.f_back
        """,
    ),
    gated(
        "collected-objects",
        "searches all objects in memory for those that hold answers",
        f"""
        import gc
        return any(type(o).__name__ in {_NAMES} for o in gc.get_objects()) or any(isinstance(o, dict) and "expected" in o and "headers" in o for o in gc.get_objects())
        """,
    ),
    gated(
        "loaded-modules",
        "searches sys.modules for modules of the grader that hold answers",
        "return any(m.startswith(('grader.judge', 'grader.bundle.model', 'grader.engine.engine', 'grader.authoring.record', 'solutions')) for m in sys.modules)",
    ),
    control(
        "imported-modules",
        "imports modules of the grader that hold answers",
        "import grader.bundle.model, grader.judge\nreturn True",
    ),
    control(
        "imported-blocks",
        "imports the real building blocks",
        "import importlib\nsys.modules.pop('grader.given', None)\nreturn importlib.import_module('grader.given.masked_softmax').masked_softmax",
    ),
    control(
        "block-on-disk",
        "reads the building block from disk",
        "import grader\nreturn 'def masked_softmax(' in open(os.path.join(os.path.dirname(grader.__file__), 'given', 'masked_softmax.py')).read()",
    ),
    control(
        "bundle-on-disk",
        "reads expected outputs from the course folder",
        "return open('@ROOT@/assignments/02_masking/bundle.safetensors', 'rb').read(8)",
    ),
    control(
        "solutions-on-disk",
        "reads the reference solutions",
        "return os.path.getsize('@ROOT@/solutions/02_masking/masking.py') and open('@ROOT@/solutions/02_masking/masking.py').read(8)",
    ),
    control("seed-on-disk", "reads the secret seed", "return open('@SECRET@').read()"),
    gated(
        "search-for-bundles",
        "searches the disk for bundles and seeds",
        """
        for top in ("@ROOT@", "@FOLDER@", "/home", "/root", "/srv"):
            for folder, folders, files in os.walk(top):
                if {"bundle.json", "bundle.safetensors", "seed", "seed.txt"} & set(files):
                    return True
                if folder.count("/") > 6: folders.clear()
        """,
    ),
    gated(
        "configuration-folders",
        "reads seeds and caches below every home folder",
        """
        import glob
        return any(open(p, "rb").read(1) for home in ("/root", *glob.glob("/home/*"), os.path.expanduser("~")) for p in glob.glob(home + "/.c*/headway/**", recursive=True) if os.path.isfile(p))
        """,
    ),
    gated(
        "parents-memory",
        "reads the memory of the grader's process through /proc",
        "m = open('/proc/@PARENT@/maps').readline()\nat = int(m.split('-')[0], 16)\nf = open('/proc/@PARENT@/mem', 'rb')\nf.seek(at)\nreturn f.read(8)",
    ),
    control(
        "parents-environment",
        "reads the environment of the grader's process",
        "return open('/proc/@PARENT@/environ', 'rb').read()",
    ),
    gated(
        "vm-readv",
        "reads the memory of the grader's process by a system call",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
        buffer = ctypes.create_string_buffer(8)
        mine = Part(ctypes.cast(buffer, ctypes.c_void_p), 8)
        theirs = Part(0x400000, 8)
        libc.process_vm_readv(@PARENT@, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
        return ctypes.get_errno() not in (1, 38, 3)
        """,
    ),
    gated(
        "ptrace",
        "attaches to the grader's process",
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nreturn libc.ptrace(16, @PARENT@, 0, 0) == 0",
    ),
    gated(
        "own-environment",
        "reads secrets from its own environment",
        "return any('HEADWAY' in n or 'SEED' in n or 'XDG' in n for n in os.environ)",
    ),
    control(
        "command-lines",
        "reads the command lines of all processes",
        """
        return any(b"pytest" in open(f"/proc/{p}/cmdline", "rb").read() for p in os.listdir("/proc") if p.isdigit())
        """,
    ),
    gated(
        "own-arguments",
        "searches its arguments for the path of the project",
        "return any('@ROOT@' in a for a in [*sys.argv, *sys.orig_argv])",
    ),
    gated(
        "open-descriptors",
        "looks for open file descriptors",
        """
        for number in range(3, 256):
            try:
                os.lseek(number, 0, 0)
                return True
            except OSError:
                pass
        """,
    ),
    gated(
        "freed-memory",
        "searches freed memory for the names of a bundle",
        """
        for size in (1 << 10, 1 << 14, 1 << 18):
            data = bytes(torch.empty(size, dtype=torch.uint8).untyped_storage())
            # Names in a bundle contain this. It is reversed here, so that this source does not contain it.
            if bytes(reversed(b"/tnaw/")) in data:
                return True
        """,
    ),
    gated(
        "own-memory",
        "searches its writable memory for a bundle",
        """
        for line in open("/proc/self/maps"):
            span, mode = line.split()[:2]
            if "rw" in mode:
                start, stop = (int(x, 16) for x in span.split("-"))
                memory = open("/proc/self/mem", "rb")
                memory.seek(start)
                if memory.read(min(stop - start, 64 << 20)).count(bytes(reversed(b"/tnaw/"))) > 20:
                    return True
        """,
    ),
    gated(
        "withheld-block",
        "searches the objects of the stand-in for a withheld block",
        """
        import gc
        from grader.given import masked_softmax as block
        given = sys.modules["grader.given"]
        for thing in [block, given, *gc.get_referents(given), *gc.get_referents(block)]:
            for value in getattr(thing, "__dict__", thing if isinstance(thing, dict) else {}).values():
                if "def masked_softmax(" in str(value): return True
                if isinstance(value, dict) and "masked_softmax" in value and callable(value["masked_softmax"]): return True
        """,
    ),
    gated(
        "book-package",
        "calls the withheld block of the book's package",
        "from d2l import torch as d2l\nreturn d2l.masked_softmax(torch.ones(1, 2, 2), None) is not None",
    ),
    gated(
        "line-cache",
        "searches linecache for the source of the block",
        "import linecache\nreturn any('masked_softmax' in name for name in linecache.cache)",
    ),
    calling(
        "call-counting",
        "returns a result that depends only on the number of the call",
        """
        masked_softmax.calls = getattr(masked_softmax, "calls", 0) + 1
        torch.manual_seed(masked_softmax.calls)
        return torch.rand(X.shape).softmax(-1)
        """,
    ),
    calling(
        "guessed-seed",
        "generates the inputs again from a guessed seed",
        "import numpy\nreturn torch.from_numpy(numpy.random.Generator(numpy.random.PCG64(0)).standard_normal(tuple(X.shape))).float().softmax(-1)",
    ),
    kept(
        "block-in-builtins",
        "stores a block of another exercise in builtins",
        "import builtins\ndef keep(b): builtins.kept = b\ndef back(): return builtins.kept",
    ),
    kept(
        "block-in-modules",
        "stores a block of another exercise in sys.modules",
        "import sys\ndef keep(b): sys.modules['kept'] = b\ndef back(): return sys.modules['kept']",
    ),
    kept(
        "block-in-torch",
        "stores a block of another exercise as an attribute of torch",
        "def keep(b): torch.kept = b\ndef back(): return torch.kept",
    ),
    kept(
        "block-in-memory",
        "finds a block of another exercise among all objects in memory",
        "import gc\ndef keep(b): pass\ndef back(): return next(o for o in gc.get_objects() if callable(o) and getattr(o, '__name__', '') == 'masked_softmax' and 'given' in str(getattr(o, '__module__', '')))",
    ),
    kept(
        "block-in-line-cache",
        "finds the source of a block of another exercise in linecache",
        "import linecache\ndef keep(b): b(torch.ones(1, 1, 1), None)\ndef back():\n    space = {}\n    exec(''.join(linecache.getlines('given/masked_softmax.py')), space)\n    return space['masked_softmax']",
    ),
    kept(
        "block-in-thread",
        "stores a block of another exercise as an attribute of the current thread",
        "import threading\nshelf = threading.current_thread().__dict__\ndef keep(b): shelf['kept'] = b\ndef back(): return shelf['kept']",
    ),
    kept(
        "block-in-worker",
        "stores a block of another exercise in the worker's loader",
        "import grader.worker.load as loader\ndef keep(b): loader.kept = b\ndef back(): return loader.kept",
    ),
    kept(
        "block-in-home",
        "stores the source of a block of another exercise in the home folder",
        "import inspect, os\nPLACE = os.path.expanduser('~/kept')\ndef keep(b): open(PLACE, 'w').write(inspect.getsource(inspect.getmodule(b)))\ndef back():\n    space = {}\n    exec(open(PLACE).read(), space)\n    return space['masked_softmax']",
    ),
    kept(
        "block-in-folder",
        "stores the source of a block of another exercise in a folder that every user may write to",
        "import linecache\nPLACE = '@FOLDER@/kept'\ndef keep(b):\n    b(torch.ones(1, 1, 1), None)\n    open(PLACE, 'w').write(''.join(linecache.getlines('given/masked_softmax.py')))\ndef back():\n    space = {}\n    exec(open(PLACE).read(), space)\n    return space['masked_softmax']",
    ),
    Attack(
        "tensors-for-the-judge",
        "computes the answer from tensors that only the judge needs",
        READS_THE_ANSWER,
        exercise="shift_matrix",
    ),
)
