"""Which room may include which, and where third-party headers may stand. The table is the rule.

A room is a folder under src/. It includes only rooms below it. The functional core (routing, chain,
jsonrpc, config, core) knows neither sockets nor logs nor metrics.
"""
import re

CORE = {"core"}
BELOW_ROUTING = {"chain", "jsonrpc", "config", "core"}
BELOW_UPSTREAM = {"telemetry", "runtime", "routing"} | BELOW_ROUTING

MAY_INCLUDE = {
    "core": set(),
    "config": CORE,
    "jsonrpc": CORE,
    "chain": {"config"} | CORE,
    "routing": BELOW_ROUTING,
    "runtime": CORE,
    "telemetry": {"config"} | CORE,
    "simulator": {"runtime", "jsonrpc"} | CORE,
    "upstream": BELOW_UPSTREAM,
    "proxy": {"upstream"} | BELOW_UPSTREAM,
    "probe": {"proxy", "upstream"} | BELOW_UPSTREAM,
    "server": {"proxy", "telemetry", "runtime", "config"} | CORE,
    "app": {"server", "probe", "proxy", "simulator", "upstream"} | BELOW_UPSTREAM,
}
# The admin pages show the pool, so these files of `server` may look at it and at its parts.
ADMIN_FILES = re.compile(r"src/server/(admin|json_writer|[a-z]+_json)\.")
ADMIN_MAY_INCLUDE = {"upstream", "routing", "chain", "jsonrpc"}
# Headers that hold a socket as a member and that only their own room includes.
SOCKET_HEADERS = {"src/server/wire.hpp", "src/upstream/http_connection.hpp"}

# Heavy libraries, the rooms whose .cpp files may use each, and the rooms whose headers may too.
SHELL = {"runtime", "simulator", "upstream", "proxy", "server", "app"}
THIRD_PARTY = [
    # pattern, rooms (.cpp), rooms (.hpp)
    (re.compile(r"boost/asio/ssl"), {"runtime", "simulator", "upstream", "server", "app"}, set()),
    (re.compile(r"boost/asio"), SHELL, {"runtime"}),
    (re.compile(r"boost/beast"), {"runtime", "simulator", "upstream", "server"}, set()),
    (re.compile(r"boost/(system|container)/"), set(MAY_INCLUDE), set(MAY_INCLUDE)),
    (re.compile(r"boost/"), set(MAY_INCLUDE), set()),
    (re.compile(r"openssl/"), {"core", "runtime", "simulator", "upstream", "server"}, set()),
    (re.compile(r"crypto(pp|\+\+)/"), {"core"}, set()),
    (re.compile(r"zlib\.h"), {"simulator", "upstream"}, set()),
    (re.compile(r"simdjson"), {"jsonrpc"}, set()),
    (re.compile(r"yaml-cpp/"), {"config"}, set()),
    (re.compile(r"spdlog/"), {"telemetry"}, set()),
    (re.compile(r"prometheus/"), {"telemetry"}, set()),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check_own(path, room, name):
    target = name.split("/")[0] if "/" in name else None
    if target not in MAY_INCLUDE:
        return 'name headers of the project as "room/header.hpp"'
    allowed = MAY_INCLUDE[room] | {room}
    if ADMIN_FILES.match(str(path)):
        allowed = allowed | ADMIN_MAY_INCLUDE
    if target not in allowed:
        return f"{room} may not include {target}; see the table in tools/rooms.py"
    if f"src/{name}" in SOCKET_HEADERS and target != room:
        return f"{name} holds a socket and is for {target} alone"
    return None


def check_third_party(path, room, name):
    for pattern, in_sources, in_headers in THIRD_PARTY:
        if pattern.match(name):
            socket_holder = str(path) in SOCKET_HEADERS and "ssl" not in name
            is_header = path.suffix == ".hpp" and not socket_holder
            allowed = in_headers if is_header else in_sources
            if room not in allowed:
                return f"<{name}> may not stand in a {path.suffix} file of {room}"
            return None
    return None


def check(files):
    """Yields one line for every include that breaks the table."""
    for path in files:
        room = path.parts[1]
        if room not in MAY_INCLUDE:
            yield f"{path}: the room {room} is not in the table of tools/rooms.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, name = match.group(1) == '"', match.group(2)
            problem = (check_own if quoted else check_third_party)(path, room, name)
            if problem:
                yield f"{path}:{number}: {problem}"
