"""Verifies JWS with PyJWT and with jwcrypto, which get the base URL of an instance and nothing else.

Reads {"base": …, "tokens": […]} from the file that is named, and prints what each library says of each token.
"""

import json
import sys
import urllib.request

import jwt
from jwcrypto import jwk, jws

with open(sys.argv[1], encoding="utf-8") as given:
    asked = json.load(given)
address = asked["base"] + "/.well-known/jwks.json"


def with_pyjwt(token: str) -> bool:
    key = jwt.PyJWKClient(address).get_signing_key_from_jwt(token)
    try:
        jwt.PyJWS().decode(token, key.key, algorithms=["ES256"])
        return True
    except jwt.InvalidSignatureError:
        return False


def with_jwcrypto(token: str) -> bool:
    with urllib.request.urlopen(address) as response:
        keys = jwk.JWKSet.from_json(response.read().decode())
    signed = jws.JWS()
    signed.deserialize(token)
    try:
        signed.verify(keys.get_key(signed.jose_header["kid"]), alg="ES256")
        return True
    except jws.InvalidJWSSignature:
        return False


print(json.dumps([[with_pyjwt(each), with_jwcrypto(each)] for each in asked["tokens"]]))
