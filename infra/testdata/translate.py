"""Translates SAM templates as CloudFormation's transform does.

Each line of standard input is {"template": text, "region": name, "parameters": {name: value}},
each line of standard output the translated template, or {"error": text}. Run it with a Python that has
the SAM translator.
"""

import json
import logging
import os
import sys

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse


def packaged(text):
    """Returns a template with code locations as `sam package` leaves them."""
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = {"Bucket": "artifacts", "Key": "code"}
    return template


def translated(request):
    os.environ["AWS_DEFAULT_REGION"] = request["region"]
    translator = Translator(
        {},  # no template here names a managed policy
        Parser(),
        boto_session=boto3.session.Session(region_name=request["region"]),
    )
    return translator.translate(packaged(request["template"]), request["parameters"] or {})


logging.disable(logging.WARNING)
for line in sys.stdin:
    try:
        reply = translated(json.loads(line))
    except Exception as e:  # whatever it is, the test that asked is to say it
        reply = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(reply, default=str), flush=True)
