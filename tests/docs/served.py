"""Runs `simnet` for documents, in processes forked from one that has imported simnet already.

To import simnet takes longer than most of the documents' commands. Each command has a process of
its own, as when a shell starts it. `python -m tests.docs.served SOCKET` serves until its standard
input ends, and `python tests/docs/served.py SOCKET ARGUMENT...` is the command.
"""

import json
import os
import socket
import sys


def ask(path: str, arguments: list[str]) -> int:
    """Have a command run with this process's files, folder and environment. Its exit status."""
    request = json.dumps({"arguments": arguments, "environment": dict(os.environ)})
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b"\n"], [0, 1, 2])
        server.sendall(request.encode())
        server.shutdown(socket.SHUT_WR)
        return server.recv(1)[0]


def serve(path: str) -> None:
    """Answer until standard input ends."""
    import selectors

    import simnet.cli.commands.run
    import simnet.cli.commands.show
    import simnet.scenario.core.load
    import simnet.scenario.system.build  # noqa: F401

    with socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as events:
        server.bind(path)
        server.listen()
        print("ready", flush=True)  # noqa: T201
        events.register(server, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        while all(key.fileobj is server for key, _ in events.select()):
            connection, _ = server.accept()
            _forked(connection)
            connection.close()


def _forked(connection: socket.socket) -> None:
    """Fork a process that answers, and one from it that is the command."""
    if os.fork():
        os.wait()
        return
    if os.fork():
        os._exit(0)  # the command's parent has none that would have to wait for it
    command = os.fork()
    if command:
        status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        connection.sendall(bytes([status if status >= 0 else 128 - status]))
        os._exit(0)
    _become(connection)


def _become(connection: socket.socket) -> None:
    """Be the command that the other side asks for."""
    from simnet.cli import main

    _, files, _, _ = socket.recv_fds(connection, 1, 3)
    with connection, connection.makefile(encoding="utf-8") as sent:
        request = json.load(sent)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(os.environ["PWD"])
    sys.argv = ["simnet", *request["arguments"]]
    main()


if __name__ == "__main__":
    if __spec__ is None:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
