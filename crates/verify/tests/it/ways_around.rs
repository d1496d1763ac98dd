//! Ways around the rules, each as a kind: an attribute reached by something else than a dot, a module reached by
//! something else than an import, text that becomes code.

use ordain_verify::{Contract, Policy, verify};

use crate::shop;

fn findings(code: &str, contract: Contract) -> Vec<String> {
    let end = if contract == Contract::Ask { "\nanswer_text = 'x'\nSTATUS = 'success'\n" } else { "" };
    let verdict = verify(&format!("{code}{end}"), &Policy::for_contract(contract), &shop::schema());
    if verdict.is_accepted() {
        Vec::new()
    } else {
        verdict.findings.iter().map(|finding| finding.message.clone()).collect()
    }
}

#[track_caller]
fn refused(codes: &[&str], contracts: &[Contract]) {
    for code in codes {
        for &contract in contracts {
            assert!(!findings(code, contract).is_empty(), "accepted under `{contract}`:\n{code}");
        }
    }
}

const ALL: &[Contract] = &[Contract::Ask, Contract::Code, Contract::Exec];
const PLANS: &[Contract] = &[Contract::Ask];

#[test]
fn a_pattern_does_not_open_what_a_dot_may_not() {
    refused(
        &[
            "match print:\n    case object(__self__=b):\n        pass",
            "match print:\n    case [*_] | object(__self__=b):\n        pass",
            "match {'k': print}:\n    case {'k': object(__self__=b)}:\n        pass",
            "import logging\nmatch logging:\n    case object(sys=s):\n        pass",
            "class C:\n    __match_args__ = ('__self__',)",
            "class C:\n    __match_args__ = tuple(['__se' + 'lf__'])",
            "match 'x':\n    case str(__class__=k):\n        pass",
        ],
        ALL,
    );
    refused(
        &[
            "class C:\n    __match_args__: tuple = ('__self__',)",
            "class C:\n    pass\nC.__match_args__ = ('__self__',)",
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    __self__: int",
            "class M(type):\n    def __instancecheck__(cls, x):\n        return True",
            "from dataclasses import dataclass\n@dataclass\nclass C:\n    __kwdefaults__: int",
        ],
        PLANS,
    );
}

#[test]
fn a_pattern_by_position_is_used_with_classes_whose_attributes_can_be_read() {
    refused(
        &[
            "D = type('D', (), {'__match' + '_args__': ('__se' + 'lf__',)})\nmatch print:\n    case D(b):\n        pass",
            "T = type(int)\nD = T('D', (), {})\nmatch print:\n    case D(b):\n        pass",
            "B = type('B', (), {})\nclass D(B):\n    pass\nmatch print:\n    case D(b):\n        pass",
            "def f(c):\n    return type('D', (), {})\n@f\nclass D:\n    pass\nmatch print:\n    case D(b):\n        pass",
            "M = type\nclass D(metaclass=M):\n    pass\nmatch print:\n    case D(b):\n        pass",
            "class D:\n    pass\nif 1:\n    D = type('D', (), {})\nmatch print:\n    case D(b):\n        pass",
            "class D(D):\n    pass\nmatch print:\n    case D(b):\n        pass",
            "from dataclasses import make_dataclass\nD = make_dataclass('D', ['__se' + 'lf__'])\nmatch print:\n    \
             case [D(b)]:\n        pass",
        ],
        PLANS,
    );
}

#[test]
fn an_annotation_is_not_a_place_for_code_that_nobody_judges() {
    refused(
        &[
            "from functools import singledispatch\n@singledispatch\ndef g(x): pass\n@g.register\ndef h(x: \"print('out')\"): pass",
            "import functools\nclass C:\n    @functools.singledispatchmethod\n    def g(self, x): pass",
        ],
        PLANS,
    );
    refused(
        &[
            "from __future__ import annotations\ndef f(x: __import__('os')): pass",
            "from __future__ import annotations\nclass C:\n    x: eval('1')",
        ],
        ALL,
    );
}

#[test]
fn a_module_is_not_reached_through_another() {
    refused(
        &[
            "import logging\nm = logging.sys",
            "import logging\nm = logging.sys.modules['ctypes']",
            "from logging import sys as s",
            "import dataclasses\nprint(dataclasses.sys)",
            "import random\nprint(random._os)",
            "import json\nprint(json.codecs.sys)",
            "import enum\nprint(enum.bltns)",
            "from tinydb import storages as st\nst.os.listdir('/')",
            "import tinydb.storages\ntinydb.storages.os.listdir('/')",
            "import operator\noperator.attrgetter('sys.modules')",
            "import operator as o\no.attrgetter('_os')",
            "import logging\ngetattr(logging, 'sys')",
            "import tinydb\nprint(tinydb.database.__dict__)",
            "import json as j\nj.__dict__['__builtins__']['__import__']('ctypes')",
        ],
        ALL,
    );
    // Through a variable the walk of values sees it, which follows plans.
    refused(&["import logging\nm = logging\nprint(m.sys)", "import sys\nx = sys\nx._getframe()"], PLANS);
}

#[test]
fn an_attribute_is_not_reached_by_text_that_nobody_can_read() {
    refused(
        &[
            "import functools, logging\nfunctools.reduce(getattr, ['sys', 'modules'], logging)",
            "f = getattr\nf(print, '__self__')",
            "import operator\ng = operator.attrgetter\ng('__self__')",
            "from operator import attrgetter\nattrgetter('__self__')(print)",
            "import string\nstring.Formatter().get_field('0.x', (1,), {})",
            "from string import Formatter",
            "import inspect\ninspect.getattr_static(print, '__self__')",
            "getattr(print, '__self__')",
        ],
        ALL,
    );
    refused(
        &[
            "import operator\nname = input\noperator.attrgetter('__se' + 'lf__')(print)",
            "import logging\ngetattr(logging, 's' + 'ys')",
            "args = (print, '__self__')\ngetattr(*args)",
            "print(print.__reduce_ex__)",
            "import tinydb\nprint(tinydb.database.__dict__)",
            "print(print.__text_signature__)",
            "import typing\ntyping.get_type_hints(print)",
        ],
        PLANS,
    );
}

#[test]
fn ordinary_programs_are_not_taken_for_ways_around() {
    let ordinary = [
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int\nmatch Point(1, 2):\n    \
         case Point(x=1, y=y):\n        print(y)",
        "from dataclasses import dataclass\nclass Shape:\n    pass\n@dataclass(frozen=True)\nclass Circle(Shape):\n    \
         radius: float\nmatch Circle(1.0):\n    case Circle(r):\n        print(r)\n    case int(n) | str(n):\n        print(n)",
        "from __future__ import annotations\nclass Node:\n    def add(self, other: Node, later: Unknown = None) -> Node:\n        \
         return self",
        "class Pair:\n    __match_args__ = ('left', 'right')",
        "import operator\nprint(sorted([], key=operator.attrgetter('name')))",
        "from datetime import datetime, date\nprint(datetime.now().time(), date.today(), datetime.time)",
        "import datetime\nprint(datetime.datetime.now(), datetime.time(1), datetime.date.today())",
        "import time, random, copy, bisect\nprint(time.time(), random.random(), copy.copy([]), bisect.bisect([], 1))",
        "import collections.abc\nprint(collections.abc.Mapping)",
        "import os.path\nprint(os.path.join('a', 'b'))",
        "import hashlib\nprint(hashlib.sha256(b'').hexdigest())",
        "class Box:\n    def __init__(self):\n        self.n = 1\n    def __radd__(self, other):\n        return \
         other\nbox = Box()\nprint(Box.__name__, box.__doc__, getattr(box, 'n', None))",
        "try:\n    pass\nexcept ValueError as error:\n    print(error.__class__.__name__, error.__cause__)",
        "import numpy as np\nnp.random.seed(1)\nprint(np.array([1]), np.select, np.copy)",
        "import pandas as pd\nprint(pd.api.types.is_numeric_dtype, pd.io)",
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\nprint(P(1, 2)._asdict())",
    ];
    for code in ordinary {
        for contract in [Contract::Ask, Contract::Exec] {
            assert_eq!(findings(code, contract), Vec::<String>::new(), "under `{contract}`:\n{code}");
        }
    }
}
