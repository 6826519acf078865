"""Hold a clone to the public internet, for an account that may run no commands here."""

from __future__ import annotations

from attrs import evolve
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import IHostnameResolver

from tservice.core.errors import ErrorCode, ServiceError, operation_failed
from tservice.core.net.egress import PUBLIC_ONLY, EgressRefused, parse_host
from tservice.core.net.guarded import find_addresses
from tservice.core.workers.resolver import limit_to_owner_share
from tservice.git.interfaces import CloneSource


async def hold_to_public(
    source: CloneSource, resolver: IHostnameResolver, account: str
) -> CloneSource:
    """Return C{source} with the addresses that git may connect to, all of them public.

    @param account: whose look-up of the name it is.
    @raise ServiceError: 403 naming C{repository}: an address is not public, or the host is spelled
        so that git may read another one; 422: there is no such host.
    """
    host, port = source.server
    bracketed = host.startswith("[")
    host = host.strip("[]")
    try:
        if not bracketed and parse_host(host)[0] != host.lower():
            raise EgressRefused("must name its host in the plain form")
        asked = limit_to_owner_share(resolver, account)
        found = await find_addresses(host, port, policy=PUBLIC_ONLY, resolver=asked)
    except EgressRefused as error:
        text = f"repository: {error}; others need the grant to bypass permissions"
        raise ServiceError(ErrorCode.FORBIDDEN, text) from None
    except DNSLookupError:
        raise operation_failed("repository: there is no such host") from None
    return evolve(source, addresses=tuple(each.host for each in found))
