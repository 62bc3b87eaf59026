"""What only an organisation has: people, requests, the API."""

from __future__ import annotations

from sordino.web import api, people, requests

ROUTES = [*people.ROUTES, *requests.ROUTES, *api.ROUTES]
