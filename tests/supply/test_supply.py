"""Sources that unpickle, fetch, evaluate or leave text unescaped are noticed, and ours do not."""

import ast

import pytest
from reliability.sources import _in_python, findings
from reliability.supply import watched


def test_our_sources_do_nothing_of_the_kind():
    assert findings() == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from urllib.request import urlopen",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "eval(text)",
        "subprocess.run(text, shell=True)",
        "Environment(loader=loader)",
        "Markup(text)",
    ],
)
def test_what_must_not_be_done_is_found(line):
    assert list(_in_python(ast.parse(line)))


def test_what_may_be_done_is_not_found():
    allowed = "import re\nre.compile('a')\nnp.load(path, allow_pickle=False)\nEnvironment(autoescape=True)\n"
    assert list(_in_python(ast.parse(allowed))) == []


def test_importing_reading_and_fitting_open_no_connection_and_unpickle_nothing():
    assert watched(reports=False) == {"events": [], "steps": 12}
