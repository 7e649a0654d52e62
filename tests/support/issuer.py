"""An issuer of sign-ons on loopback: authorisation codes with PKCE, and ID tokens as a test wants them."""

import base64
import json
import secrets
import socket
import time
from email import message_from_bytes
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.carriers.support.servers import LoopbackServer, http

CLIENT, SECRET = "parcels", "a client's secret"
RS256, ES256 = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP256R1())
STRANGERS = ec.generate_private_key(ec.SECP256R1())


class Issuer(LoopbackServer):
    """The issuer: who signs in is `claims`; `token`, `config` and `userinfo` change what it answers."""

    def __init__(self) -> None:
        super().__init__(self.take)
        self.claims: dict[str, Any] = {"sub": "7", "preferred_username": "jane", "groups": ["logistics"]}
        self.token: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {"sub": "7"}
        self.config: dict[str, Any] = {}
        self.key: tuple[Any, str, str] = (ES256, "ES256", "es")
        self.redirects_to = ""  # where the endpoint of tokens leads to
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: list[str] = []

    def authorize(self, address: str, **answer: str) -> str:
        """Do what a browser does at the address that it was led to; return where it is led back to."""
        query = dict(parse_qsl(urlsplit(address).query))
        assert address.startswith(f"{self.url}/authorize?")
        assert (query["client_id"], query["response_type"]) == (CLIENT, "code")
        code = secrets.token_hex(8)
        self.codes[code] = query
        back = answer or {"code": code}
        return f"{query['redirect_uri']}?{urlencode(back | {'state': query['state']})}"

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = (
            {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": nonce} | self.claims | self.token
        )
        key, algorithm, key_id = self.key
        return jwt.encode(claims, key, algorithm, headers={"kid": key_id})

    def take(self, stream: socket.socket, request: bytes) -> bool:
        first, _, rest = request.partition(b"\r\n")
        asked = message_from_bytes(rest)
        form = dict(parse_qsl(str(asked.get_payload())))
        status, content = self.answer(first.split()[1].decode(), form, asked)
        location = f"Location: {self.redirects_to}\r\n" if self.redirects_to else ""
        stream.sendall(http(json.dumps(content).encode(), status, "application/json", location))
        return True

    def answer(self, path: str, form: dict[str, str], headers: Any) -> tuple[int, Any]:
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
            names |= {"jwks_uri": "keys", "userinfo_endpoint": "userinfo"}
            return 200, {"issuer": self.url} | {
                name: f"{self.url}/{path}" for name, path in names.items()
            } | self.config
        if path == "/keys":
            rs = jwt.algorithms.RSAAlgorithm.to_jwk(RS256.public_key(), as_dict=True) | {"kid": "rs", "alg": "RS256"}
            es = jwt.algorithms.ECAlgorithm.to_jwk(ES256.public_key(), as_dict=True) | {"kid": "es"}
            return 200, {"keys": [rs, es]}
        if path == "/userinfo":
            return 200 if headers["Authorization"] == "Bearer opaque" else 401, self.userinfo
        if self.redirects_to:
            return 307, {}
        return self.exchanged(form, headers)

    def exchanged(self, form: dict[str, str], headers: Any) -> tuple[int, Any]:
        """Exchange a code for tokens, once, if secret, address and verifier are those of who asked for it."""
        asked = self.codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=")
        if (
            asked is None
            or headers["Authorization"] != f"Basic {basic}"
            or asked["redirect_uri"] != form["redirect_uri"]
            or (asked["code_challenge_method"], asked["code_challenge"]) != ("S256", challenge.decode())
        ):
            return 400, {"error": "invalid_grant"}
        tokens = {"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"])}
        return 200, tokens
