# SPDX-License-Identifier: GPL-3.0-or-later
"""Jinja2 as Transformers sets it up for chat templates, written from its documentation and behaviour:
an immutable sandbox with trim_blocks and lstrip_blocks, loop controls, the `generation` tag, tojson as
plain json.dumps, raise_exception and strftime_now. The time is a parameter here."""
import datetime
import json

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    """`{% generation %}…{% endgeneration %}` prints its body; `marks` lists where (code points)."""
    tags = {"generation"}

    def __init__(self, environment):
        super().__init__(environment)
        environment.extend(printed=[], marks=[])

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller):
        begin = sum(map(len, self.environment.printed))
        text = caller()
        self.environment.marks.append((begin, begin + len(text)))
        return text


def environment(now=None, **options):
    moment = datetime.datetime.fromisoformat(now or "2024-07-26T12:00:00")

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(format):
        return moment.strftime(format)

    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        **{"trim_blocks": True, "lstrip_blocks": True, **options}, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = strftime_now
    return made


def render(template, variables, now=None, **options):
    """{"text": …, "marks": […]} or {"error": "Type: message"}."""
    env = environment(now, **options)
    try:
        compiled = env.from_string(template)
        for part in compiled.generate(**variables):
            env.printed.append(part)
        return {"text": "".join(env.printed), "marks": env.marks}
    except RecursionError as error:
        return {"error": "RecursionError: " + str(error)}
    except Exception as error:  # whatever Python raises is what templates can raise
        return {"error": f"{type(error).__name__}: {error}"}
