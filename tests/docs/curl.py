"""A stand-in for curl where none is installed: the options of the guide's examples, with the standard library."""

import argparse
import sys
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

TIMEOUT_S = 60


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="curl", allow_abbrev=False)
    parser.add_argument("-s", action="store_true", help="silent (always)")
    parser.add_argument("-i", action="store_true", help="print status and headers, too")
    parser.add_argument("-G", action="store_true", help="put data into the query string")
    parser.add_argument("-X", dest="method")
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="data")
    parser.add_argument("--data-urlencode", dest="pairs", action="append", default=[])
    parser.add_argument("url")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    url = urlsplit(options.url)
    pairs = [f"{name}={quote(value, safe='')}" for name, _, value in (pair.partition("=") for pair in options.pairs)]
    query = "&".join(filter(None, [url.query, *pairs]))
    headers = dict(line.split(": ", 1) for line in options.headers)
    body = options.data.encode() if options.data else None
    connection = HTTPConnection(str(url.hostname), url.port, timeout=TIMEOUT_S)
    method = options.method or ("POST" if body else "GET")
    connection.request(method, f"{url.path}?{query}" if query else url.path, body, headers)
    response = connection.getresponse()
    if options.i:
        lines = [f"HTTP/1.1 {response.status} {response.reason}"]
        lines += [f"{name}: {value}" for name, value in response.getheaders()]
        sys.stdout.write("\r\n".join([*lines, "", ""]))
    sys.stdout.flush()
    sys.stdout.buffer.write(response.read())


main()
