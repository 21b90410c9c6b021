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
    "tokens": "tokens:Tokens",
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
    "sections": "parts:Sections",
    "placeholders": "form:Placeholders",
    "choice": "form:Choice",
    "responses": "parts:Responses",
    "section_order": "parts:SectionOrder",
    # data formats
    "json": "jsons:Json",
    "json_schema": "json_schema:JsonSchema",
    "csv": "csvs:Csv",
    "yaml": "yamls:Yaml",
    "xml_tags": "xml_tags:XmlTags",
    "regex": "patterns:Regex",
    "sql_read_only": "sql:SqlReadOnly",
    # sources
    "citations": "citations:Citations",
    "verbatim_quotes": "quotes:VerbatimQuotes",
    "no_urls": "urls:NoUrls",
    "no_pii": "pii:NoPii",
    # language
    "language": "language:Language",
    # programs
    "python": "python:Python",
    "python_calls": "python_calls:Calls",
    "python_imports": "python_calls:Imports",
    "python_signature": "python_signature:Signature",
    "python_complexity": "python_complexity:Complexity",
    "patch_paths": "patch:PatchPaths",
    # combinations
    "all": "combine:All",
    "any": "combine:AnyOf",
    "not": "combine:Not",
    "at_least": "combine:AtLeast",
}
