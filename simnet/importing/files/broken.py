"""Documents of JSON or XML that break off: nothing of them can be read."""

import json
import re
from typing import Final
from xml.etree.ElementTree import ParseError

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

_JSON: Final = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')
_XML: Final = re.compile(r"\s*<\?xml\s")


def why_broken(text: str) -> str:
    """Say why nothing of a document can be read; empty where it can be, or is of another form."""
    try:
        if _JSON.match(text):
            json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return "JSON that breaks off, or is no JSON"
    try:
        if _XML.match(text):
            ElementTree.fromstring(text.strip(), forbid_dtd=False)
    except (ParseError, DefusedXmlException, ValueError, RecursionError):
        return "XML that breaks off, or is no XML"
    return ""
