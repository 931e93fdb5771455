"""What the bundled apps share: their appearance, languages, page frame, database habits, and people to write about.

An app is a folder beside this one, with `templates/`, `static/`, `languages/` and a `create_app(workdir)`.
"""
