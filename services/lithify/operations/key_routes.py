"""The HTTP surface of API keys, for administrators of a tenant."""

from http import HTTPStatus
from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Path, Response

from lithify.access import ApiKeyAuthenticator, ApiKeyRequest, ApiKeyStore
from lithify.events import AnyTenant, TenantScope
from lithify.http import JsonRoute, NotFound
from lithify.http.authorization import Access
from lithify.operations.key_schema import IssuedKey, KeyList, KeyRecord, describe_issued, describe_key

log = structlog.get_logger(__name__)


def key_router(store: ApiKeyStore, authenticator: ApiKeyAuthenticator) -> APIRouter:
    """Answers administrators only; every change is known to this process at once."""
    router = APIRouter(prefix="/v1", tags=["keys"], route_class=JsonRoute)
    admin = Depends(Access(authenticator).needs_admin())

    @router.post("/keys", status_code=HTTPStatus.CREATED)
    async def create_key(wanted: ApiKeyRequest, response: Response, scope: AnyTenant = admin) -> IssuedKey:
        """Make a key; the answer is the only place where it can ever be read."""
        key, credential = await store.create(name_tenant(wanted, scope))
        authenticator.forget()
        log.info("key_created", created=key.id, tenant=key.tenant)
        response.headers["Cache-Control"] = "no-store"
        return describe_issued(key, credential)

    @router.get("/keys")
    async def list_keys(scope: AnyTenant = admin) -> KeyList:
        """The keys of the tenant, live and revoked, the oldest first."""
        return KeyList(keys=[describe_key(key) for key in await store.all(scope)])

    @router.delete("/keys/{key_id}", responses={404: {}})
    async def revoke_key(key_id: Annotated[str, Path(max_length=64)], scope: AnyTenant = admin) -> KeyRecord:
        """Revoke a key for good; every process refuses it within a second."""
        key = await store.revoke(scope, key_id)
        if key is None:
            raise NotFound(f"id: there is no key {key_id!r}")
        authenticator.forget()
        log.info("key_revoked", revoked=key.id, tenant=key.tenant)
        return describe_key(key)

    return router


def name_tenant(wanted: ApiKeyRequest, scope: AnyTenant) -> ApiKeyRequest:
    """Gives administrators a key of their own tenant, as they may name no other; the operator names any."""
    if isinstance(scope, TenantScope):
        return wanted.model_copy(update={"tenant": scope.tenant})
    return wanted
