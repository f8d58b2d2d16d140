"""What a page is made of, read as a browser would read it."""

import json
from html.parser import HTMLParser


class Outline(HTMLParser):
    """Elements of a page, and the texts of its scripts and headings."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.scripts, self.headings, self.stack = [], [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.stack.append(tag)
        if tag == "script":
            self.scripts.append("")
        if tag == "h2":
            self.headings.append("")

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if self.stack[-1:] == ["script"]:
            self.scripts[-1] += data
        if "h2" in self.stack:
            self.headings[-1] += data


def data_of(html):
    return json.loads(Outline(html).scripts[0])
