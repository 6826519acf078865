"""What cloudflared prints, in its own words and order (its quick_tunnel.go and its issues)."""

from __future__ import annotations

THANKS = (
    "2026-03-04T10:11:12Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a"
    " Cloudflare account, is a quick way to experiment and try it out. However, be aware that"
    " these account-less Tunnels have no uptime guarantee, are subject to the Cloudflare Online"
    " Services Terms of Use (https://www.cloudflare.com/website-terms/), and Cloudflare reserves"
    " the right to investigate your use of Tunnels for violations of such terms. If you intend to"
    " use Tunnels in production you should use a pre-created named tunnel by following:"
    " https://developers.cloudflare.com/cloudflare-one/connections/connect-apps"
)
URL = "https://four-dashed-word-url.trycloudflare.com"
HOST = "four-dashed-word-url.trycloudflare.com"
_RULE = "+" + "-" * 92 + "+"

BANNER = "\n".join(
    (
        THANKS,
        "2026-03-04T10:11:12Z INF Requesting new quick Tunnel on trycloudflare.com...",
        f"2026-03-04T10:11:15Z INF {_RULE}",
        "2026-03-04T10:11:15Z INF |  Your quick Tunnel has been created! Visit it at (it may take"
        " some time to be reachable):  |",
        f"2026-03-04T10:11:15Z INF |  {URL:<88}  |",
        f"2026-03-04T10:11:15Z INF {_RULE}",
        "2026-03-04T10:11:15Z INF Version 2026.2.0 (Checksum 0123abcd)",
        "2026-03-04T10:11:15Z INF Settings: map[ha-connections:1 protocol:quic"
        " url:http://127.0.0.1:8770]",
        "2026-03-04T10:11:15Z INF Starting metrics server on 127.0.0.1:20241/metrics",
        "2026-03-04T10:11:16Z INF Registered tunnel connection connIndex=0 ip=198.51.100.13"
        " location=fra08 protocol=quic",
        "",
    )
)

NO_NETWORK = "\n".join(
    (
        THANKS,
        "2026-03-04T10:11:12Z INF Requesting new quick Tunnel on trycloudflare.com...",
        'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp:'
        " lookup api.trycloudflare.com on 127.0.0.11:53: no such host",
        "",
    )
)

TOO_MANY = "\n".join(
    (
        THANKS,
        "2026-03-04T10:11:12Z INF Requesting new quick Tunnel on trycloudflare.com...",
        '2026-03-04T10:11:12Z ERR Error unmarshaling QuickTunnel response: error code: 1015 error="'
        "invalid character 'e' looking for beginning of value\" status_code=\"429 Too Many"
        ' Requests"',
        "failed to unmarshal quick Tunnel: invalid character 'e' looking for beginning of value",
        "",
    )
)
