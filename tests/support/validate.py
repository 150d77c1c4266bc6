#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""validate.py SCHEMA JSON: prints what does not fit and exits 1, or exits 0."""
import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    document = json.load(file, parse_constant=lambda name: sys.exit(f"{name} is not JSON"))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
complaints = [f"{error.json_path}: {error.message}" for error in validator(schema).iter_errors(document)]
print("\n".join(complaints[:20]))
sys.exit(1 if complaints else 0)
