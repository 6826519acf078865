"""Restriction of clones to the public internet, for accounts that may not run commands."""

from __future__ import annotations

from attrs import evolve
from twisted.internet.error import DNSLookupError
from twisted.internet.interfaces import IHostnameResolver

from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.net.egress import PUBLIC_ONLY, EgressRefused, parse_host
from tservice.core.net.guarded import find_addresses
from tservice.core.workers.resolver import limit_to_owner_share
from tservice.git.interfaces import CloneSource


async def restrict_to_public_hosts(
    source: CloneSource, resolver: IHostnameResolver, account: str
) -> CloneSource:
    """Return C{source} with the addresses to which git may connect, which must all be public.

    @param account: account that requests the look-up of the host name.
    @raise ServiceError: 403 for the field C{repository} if an address is not public, or git may
        parse the host name differently; 422 if the host is unknown.
    """
    host, port = source.host_and_port
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
        raise make_failure_error("repository: there is no such host") from None
    return evolve(source, addresses=tuple(each.host for each in found))
