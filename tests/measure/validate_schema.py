# SPDX-License-Identifier: Apache-2.0
"""validate_schema.py SCHEMA COMMAND [ARG...]: the command's stdout must be one JSON document that fits the schema.

Then breaks the document in several ways and requires the schema to refuse each: a schema that accepts everything
would be no test. Exit 77 when python3-jsonschema is missing."""
import copy
import json
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("waived: the python3-jsonschema package is not installed")
    sys.exit(77)


def refuse_constant(name):
    raise ValueError("the document contains " + name)


def breakages(document):
    def broken(change):
        other = copy.deepcopy(document)
        change(other)
        return other

    def passed(other):
        return next(r for r in other["records"] if r["metrics"])

    yield "another schema version", broken(lambda d: d.update(schema="marrow.result/99"))
    yield "no environment", broken(lambda d: d.pop("environments" if "environments" in d else "environment"))
    yield "unknown status", broken(lambda d: passed(d).update(status="ok"))
    yield "unknown kind of time", broken(lambda d: passed(d)["metrics"][0].update(kind="real"))
    yield "no sample", broken(lambda d: passed(d)["metrics"][0].update(n=0))
    yield "no spread", broken(lambda d: passed(d)["metrics"][0].pop("spread"))
    yield "null for a number", broken(lambda d: passed(d)["metrics"][0].update(p50=None))
    yield "failed without a reason", broken(lambda d: passed(d).update(status="failed", reason=""))
    yield "unknown key in a record", broken(lambda d: passed(d).update(speed=1))


def main():
    schema = json.load(open(sys.argv[1], encoding="utf-8"))
    validator = jsonschema.Draft7Validator
    validator.check_schema(schema)
    run = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, timeout=120)
    if run.returncode == 77:
        print("waived: the command says that nothing can run here")
        return 77
    if run.returncode != 0:
        print("the command ended with", run.returncode)
        return 1
    document = json.loads(run.stdout, parse_constant=refuse_constant)
    problems = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator(schema).iter_errors(document)]
    for name, other in breakages(document):
        if validator(schema).is_valid(other):
            problems.append("the schema accepts a broken document: " + name)
    print("\n".join(problems) or f"{len(document['records'])} records fit the schema")
    return 1 if problems else 0


sys.exit(main())
