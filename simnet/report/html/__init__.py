"""A report as one file of HTML that needs no network: question, verdict, pictures, commands.

`kinds` has a module for each document that commands print as JSON; it turns the document into the
parts of a report, made of `blocks`. `page` writes them.
"""
