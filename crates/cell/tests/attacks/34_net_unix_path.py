# name: net_unix_path
# class: network
# tries: connect to the runner's Unix socket by path, from several folders, as stream and datagram
# expected: the path does not exist in the cell, and sockets are refused
# outcome: ok
# after: no-packet-received,no-host-file-content
# oracle: both
import os, socket
for path in ("/tmp/attack-canary/canary.sock", "/work/../tmp/attack-canary/canary.sock", "/proc/1/root/tmp/attack-canary/canary.sock", "/run/systemd/notify", "/var/run/docker.sock", "/run/dbus/system_bus_socket"):
    print("ESCAPE visible" if os.path.exists(path) else "CONTAINED", path)
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_UNIX, kind) as s: s.connect(path); print("ESCAPE connected", path)
        except OSError as e: print("CONTAINED", path, e)
