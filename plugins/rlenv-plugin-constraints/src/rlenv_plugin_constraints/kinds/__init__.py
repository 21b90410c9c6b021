"""Our own kinds of constraints: name → "module:Class" in this package, imported when used."""

from __future__ import annotations

__all__ = ["KINDS"]

KINDS: dict[str, str] = {
    # lengths
    "words": "lengths:Words",
    "max_words": "lengths:MaxWords",
    "min_words": "lengths:MinWords",
    "sentences": "lengths:Sentences",
    "paragraphs": "lengths:Paragraphs",
    "lines": "lengths:Lines",
    "characters": "lengths:Characters",
    "tokens": "lengths:Tokens",
    "readability": "readability:Readability",
    # words
    "contains": "keywords:Contains",
    "forbids": "keywords:Forbids",
    "keyword": "keywords:Keyword",
    "letter": "keywords:Letter",
    "starts_with": "edges:StartsWith",
    "ends_with": "edges:EndsWith",
    "quoted": "edges:Quoted",
    "postscript": "edges:Postscript",
    "first_word": "edges:FirstWord",
    "repeats_prompt": "edges:RepeatsPrompt",
    # letter case and punctuation
    "uppercase": "case:Uppercase",
    "lowercase": "case:Lowercase",
    "capital_words": "case:CapitalWords",
    "no_comma": "punctuation:NoComma",
    "no_characters": "punctuation:NoCharacters",
    # form
    "title": "form:Title",
    "bullets": "form:Bullets",
    "highlights": "form:Highlights",
    "sections": "form:Sections",
    "placeholders": "form:Placeholders",
    "choice": "form:Choice",
    "responses": "form:Responses",
    "section_order": "form:SectionOrder",
    # data formats
    "json": "data:Json",
    "json_schema": "data:JsonSchema",
    "csv": "data:Csv",
    "yaml": "data:Yaml",
    "xml_tags": "data:XmlTags",
    "regex": "patterns:Regex",
    "sql_read_only": "sql:SqlReadOnly",
    # sources
    "citations": "sources:Citations",
    "verbatim_quotes": "sources:VerbatimQuotes",
    "no_urls": "privacy:NoUrls",
    "no_pii": "privacy:NoPii",
    # language
    "language": "language:Language",
    # programs
    "python": "python:Python",
    "python_calls": "python:Calls",
    "python_imports": "python:Imports",
    "python_signature": "python:Signature",
    "python_complexity": "python:Complexity",
    "patch_paths": "patch:PatchPaths",
    # combinations
    "all": "combine:All",
    "any": "combine:Any",
    "not": "combine:Not",
    "at_least": "combine:AtLeast",
}
