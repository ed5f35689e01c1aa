"""Which rule ids the code has, read from its syntax trees.

A rule id is the first argument of what makes a finding: ``Finding``, ``Remark``, or a
helper of our own that hands one of its parameters on to these. A module that computes
its ids lists them as ``RuleId = Literal[...]``.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "trtspec"
MAKERS = {"Finding": 0, "Remark": 0}
SEVERITIES = {"blocking", "warning", "note"}


@cache
def rule_ids():
    """Give each rule id with the severities that stand beside it in the code."""
    modules, makers = _learned()
    constants = {(m.name, key): v for m in modules for key, v in m.constants.items()}
    found = defaultdict(set)
    for module in modules:
        for rule in module.listed:
            found[rule] |= set()
        for _, rules, severities in module.made(makers, constants):
            for rule in rules:
                found[rule] |= severities
    return dict(found)


def untold():
    """Give the places of findings whose rule cannot be read from the code."""
    modules, makers = _learned()
    constants = {(m.name, key): v for m in modules for key, v in m.constants.items()}
    return [
        f"{module.name}:{line}"
        for module in modules
        if not module.listed
        for line, rules, _ in module.made(makers, constants)
        if not rules
    ]


@cache
def _learned():
    modules = [_Module(path) for path in sorted(_files())]
    makers, before = dict(MAKERS), None
    while makers != before:  # a helper may call a helper
        before = dict(makers)
        for module in modules:
            makers |= module.learn_helpers(makers)
    return modules, makers


def _files():
    for folder in ("check", "trtllm"):
        yield from (PACKAGE / folder).rglob("*.py")


class _Module:
    def __init__(self, path):
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        relative = path.relative_to(PACKAGE.parent).with_suffix("")
        self.name = ".".join(relative.parts)
        self.constants = _constants(self.tree)
        self.own_makers = {}
        self.handed_on = set()
        self.listed = _listed(self.tree)
        self.imported = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def learn_helpers(self, makers):
        """Find functions that hand a parameter on as a rule, with its index.

        Those with an underscore are this module's own; the others are given back.
        """
        found = {}
        for function in ast.walk(self.tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            parameters = [argument.arg for argument in function.args.args]
            for _, rule, _ in _calls(function, makers | self.own_makers):
                if isinstance(rule, ast.Name) and rule.id in parameters:
                    found[function.name] = parameters.index(rule.id)
                    self.handed_on.add(rule)
        self.own_makers |= {n: i for n, i in found.items() if n.startswith("_")}
        return {n: i for n, i in found.items() if not n.startswith("_")}

    def made(self, makers, constants):
        """Give the rules and severities of every finding that is made here."""
        for call, rule, name in _calls(self.tree, makers | self.own_makers):
            severities = _strings(call) & SEVERITIES
            if name == "blocking":
                severities = {"blocking"}
            passed_through = isinstance(rule, ast.Attribute)  # of a remark
            if rule not in self.handed_on and not passed_through:
                yield call.lineno, self._values(rule, constants), severities

    def _values(self, node, constants):
        if isinstance(node, ast.IfExp):
            values = self._values(node.body, constants)
            return values | self._values(node.orelse, constants)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {node.value}
        if isinstance(node, ast.Name):
            value = self.constants.get(node.id)
            origin = self.imported.get(node.id)
            value = value or constants.get(origin)
            return {value} if value else set()
        return set()


def _constants(tree):
    return {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def _listed(tree):
    """Give the strings of ``RuleId = Literal[...]``."""
    return {
        constant.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)
        if any(isinstance(t, ast.Name) and t.id == "RuleId" for t in node.targets)
        for constant in ast.walk(node.value.slice)
        if isinstance(constant, ast.Constant)
    }


def _calls(tree, makers):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        index = makers.get(node.func.id)
        named = [k.value for k in node.keywords if k.arg == "rule"]
        if index is None:
            continue
        if named or len(node.args) > index:
            yield node, (named or node.args[index:])[0], node.func.id


def _strings(call):
    """Give the constants among the arguments, both of a choice included."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    for node in list(values):
        if isinstance(node, ast.IfExp):
            values += [node.body, node.orelse]
    return {node.value for node in values if isinstance(node, ast.Constant)}
