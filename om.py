"""The one door to om-vault: `python3 om.py setup | test | serve | <any om command>`.

Standard library only, any Python from 3.8 on. It picks the environment that setup made (OM_PYTHON, then `.venv`
beside this file, then the user's cache folder) and starts the rest there. Other repositories hold the path of this
file, so it never moves.
"""

import os
import sys

CODE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(CODE, "src")
# What an update that stopped half way has kept of the code it began with; SOURCES may be of two versions then.
BEGUN = os.path.join(CODE, ".cache", "update", "code", "src")
BRIDGE = (3, 10)


def main(arguments):
    if sys.version_info < (3, 8):
        sys.exit(
            "om.py needs Python 3.8 to start and 3.10 to run the bridge: install Python 3.10 or newer from your system"
        )
    if os.name == "nt":
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(errors="backslashreplace")
    command = arguments[0] if arguments else "--help"
    if command in ("setup", "test"):
        sys.path.insert(0, SOURCES)
        sys.dont_write_bytecode = True
        from vaultcore import environment

        return environment.main(CODE, command, arguments[1:])
    python = find_python()
    if python is None:
        return complain(command)
    if command == "serve":
        entry = [os.path.join(SOURCES, "vaultbridge", "__main__.py"), *arguments[1:]]
    elif command == "update" and os.path.isdir(BEGUN):
        entry = [os.path.join(BEGUN, "vaultbridge", "cli", "__main__.py"), "--vault", CODE, *arguments]
    else:
        entry = [os.path.join(SOURCES, "vaultbridge", "cli", "__main__.py"), *arguments]
    # -I: no PYTHON* variable, no user site and no working directory can change what runs
    call = [python, "-I", "-X", "pycache_prefix=" + byte_code(python), *entry]
    if os.name == "nt":  # exec returns early there and the client would lose the process
        import subprocess

        return subprocess.call(call)
    os.execv(python, call)


def find_python():
    """The interpreter of the first environment that exists, or None."""
    named = os.environ.get("OM_PYTHON")
    if named:
        return named
    inside = interpreter(os.path.join(CODE, ".venv"))
    if os.path.exists(inside):
        return inside
    sys.path.insert(0, SOURCES)
    sys.dont_write_bytecode = True
    from vaultcore import environment

    outside = interpreter(environment.outside(CODE))
    return outside if os.path.exists(outside) else None


def byte_code(python):
    """Where byte code lies: with the environment it belongs to, never among the notes' folders."""
    home = os.path.dirname(os.path.dirname(python))
    ours = os.path.exists(os.path.join(home, "om-environment.json"))
    return os.path.join(home, "pycache") if ours else os.path.join(CODE, ".cache", "pycache")


def interpreter(environment):
    """Where an environment keeps its Python."""
    return (
        os.path.join(environment, "Scripts", "python.exe")
        if os.name == "nt"
        else os.path.join(environment, "bin", "python")
    )


def complain(command):
    """No environment: say what to run, to an MCP client in its own protocol, to a hook's worker not at all."""
    if command == "refresh":
        return 0
    sentence = "om-vault is not set up here: run `python3 " + os.path.join(CODE, "om.py") + " setup`"
    if command != "serve" or {"-h", "--help"} & set(sys.argv) or (sys.stdin and sys.stdin.isatty()):
        sys.exit("Error: " + sentence)
    import json

    print(sentence, file=sys.stderr)
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "id" in message and "method" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": sentence}}
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
