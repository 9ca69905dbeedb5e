"""Draws pages: templates with every value escaped, and the headers that keep anything foreign out of them."""

import hashlib
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from lithify.dashboard import board, wording
from lithify.dashboard.authentication import PATH, Viewer
from lithify.streams.groups import label_of

STATIC: Final = Path(__file__).parent / "static"
MEDIA_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

# Nothing from elsewhere, nothing inline: a memory that holds a script stays a text, whatever a template forgets.
CONTENT_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With `no-referrer`, browsers would hide the origin of our own forms from us.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

NAVIGATION: Final = (
    ("", "Overview"),
    ("/streams", "Streams"),
    ("/jobs", "Jobs"),
    ("/dead-letters", "Dead letters"),
    ("/workers", "Workers"),
    ("/memory", "Search"),
    ("/sessions", "Sessions"),
    ("/playground", "Playground"),
    ("/docs", "Docs lane"),
)
OPERATOR_PAGES: Final = frozenset({"", "/streams", "/workers"})
"""Pages about the whole installation, which viewers of one tenant are not offered."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Draws each page from its template."""

    templates: Environment

    def draw(self, name: str, viewer: Viewer | None, status: HTTPStatus = HTTPStatus.OK, **values: Any) -> HTMLResponse:
        """Renders the page `name`, which is also its template; `viewer` is None before anybody is known."""
        template = self.templates.get_template(f"{name}.html")
        return HTMLResponse(template.render(page=name, viewer=viewer, **values), status)


def load_pages() -> Pages:
    templates = Environment(
        loader=PackageLoader("lithify.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        age=wording.age,
        number=wording.number,
        rate=wording.rate,
        day=wording.day,
        moment=wording.moment,
        decimal=wording.decimal,
        stage=label_of,
        mark=wording.mark,
    )
    templates.globals.update(
        root=PATH,
        navigation=NAVIGATION,
        operator_pages=OPERATOR_PAGES,
        version=version("lithify"),
        static=static_url,
        group_name=board.group_name,
        worker_name=board.worker_name,
    )
    return Pages(templates)


@cache
def static_url(name: str) -> str:
    """Returns an address with a digest of the content, so that a browser keeps a file as long as it is the same."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"{PATH}/static/{name}?{digest}"


def static_file(name: str) -> Response | None:
    """Returns None for whatever is not one of our own files: names are compared, never joined to a path."""
    found = next((file for file in STATIC.iterdir() if file.name == name and file.suffix in MEDIA_TYPES), None)
    if found is None:
        return None
    caching = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(found.read_bytes(), headers=HEADERS | caching, media_type=MEDIA_TYPES[found.suffix])


def add_security_headers(response: Response) -> Response:
    """Adds the headers of every page, and forbids keeping it: a page is for one viewer, and for now."""
    response.headers.update(HEADERS)
    response.headers["Cache-Control"] = "no-store"
    return response
