"""Runs through a bucket and through a server with SFTP, with the command and from Python."""

from __future__ import annotations

import contextlib
import getpass
import http.client
import http.server
import json
import os
import pathlib
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import pytest
import vesica as v

COMMAND = pathlib.Path(sys.executable).with_name("vesica")
OWN = [f"user{n}@example.org" for n in range(1000)]
THEIRS = [f"User{n}@Example.org" for n in range(400, 2400)]

#: A program of a test that takes longer than this hangs, in seconds.
LIMIT = 120

#: How long a server may take to listen, in seconds.
START = 30

REGION = "eu-central-1"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[Any]) -> None:
    """Waits until `process` listens on `port`."""
    end = time.monotonic() + START
    while time.monotonic() < end:
        assert process.poll() is None, "the server has ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("the server does not listen")


@contextlib.contextmanager
def started(port: int, *command: str, **environment: str) -> Iterator[None]:
    """A server on `port`, until the end of the block."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, **environment}, **quiet)
    try:
        wait_for(port, process)
        yield
    finally:
        process.terminate()
        process.wait(START)


class Scene:
    """The files of both sides, and what their programs need to know of the place."""

    def __init__(
        self,
        folder: pathlib.Path,
        place: str,
        environment: Mapping[str, str],
        receives: str = "all",
        rows: tuple[list[str], list[str]] = (OWN, THEIRS),
    ) -> None:
        self.folder, self.place = folder, place
        self.environment = {**os.environ, **environment}
        self.keys = {name: v.Identity.generate(folder / f"{name}.key") for name in ("shop", "club")}
        self.agreement = v.Agreement.new(self.keys, receives=receives, max_rows=5000)
        self.agreement.save(folder / "agreement.toml")
        self.common = len({row.lower() for row in rows[0]} & {row.lower() for row in rows[1]})
        for name, own in zip(("shop", "club"), rows, strict=True):
            lines = "".join(f"{mail}\n" for mail in own)
            (folder / f"{name}.csv").write_text(f"email\n{lines}")

    def start(self, name: str, *options: str, place: str = "") -> subprocess.Popen[str]:
        """The command of a side."""
        parts = [COMMAND, "run", "agreement.toml", "--key", f"{name}.key"]
        parts += ["--input", f"{name}.csv"]
        if name in self.agreement.receives:
            parts += ["--output", f"{name}.out.csv", "--force"]
        parts += ["--exchange", place or self.place, "--state", f"{name}.state", *options]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        words = [str(part) for part in parts]
        return subprocess.Popen(words, cwd=self.folder, env=self.environment, **pipes)

    def run(self, name: str, *options: str, place: str = "") -> tuple[int, str]:
        """The exit code and the standard error of a side alone."""
        return self.end(self.start(name, *options, place=place))

    @staticmethod
    def end(process: subprocess.Popen[str]) -> tuple[int, str]:
        _, error = process.communicate(timeout=LIMIT)
        return process.returncode, error

    def both(self) -> None:
        """Both sides, at once."""
        sides = [self.start(name, "--wait", "60s") for name in ("shop", "club")]
        for code, error in map(self.end, sides):
            assert code == 0, error
        self.check()

    def check(self) -> None:
        """Who receives the result has it, and nothing is left."""
        for name in ("shop", "club"):
            assert not (self.folder / f"{name}.state").exists()
            result = self.folder / f"{name}.out.csv"
            assert result.exists() == (name in self.agreement.receives)
            if result.exists():
                assert len(result.read_text().splitlines()) == self.common + 1
                result.unlink()

    def taking_turns(self) -> int:
        """Both sides, each doing what is possible, in turn; returns how many calls it took."""
        calls, waiting = 0, ["shop", "club"]
        while waiting:
            name = waiting.pop(0)
            code, error = self.run(name, "--once")
            calls += 1
            assert code in (0, 75), error
            assert calls < 40
            if code == 75:
                waiting.append(name)
        self.check()
        return calls

    def from_python(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Both sides, from Python."""
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)

        def side(name: str) -> v.Result:
            rows, state = self.folder / f"{name}.csv", self.folder / f"{name}.state"
            key = self.keys[name]
            return v.run(self.agreement, rows, key=key, exchange=self.place, state=state, wait=60)

        with ThreadPoolExecutor() as threads:
            for result in threads.map(side, ("shop", "club")):
                assert result.to_arrow().num_rows == self.common


@pytest.fixture(scope="module")
def s3() -> Iterator[int]:
    """A server that speaks the protocol of S3; gives its port."""
    port = free_port()
    program = str(pathlib.Path(sys.executable).with_name("moto_server"))
    with started(port, program, "-H", "127.0.0.1", "-p", str(port)):
        yield port


def client(kind: str, port: int) -> Any:
    return boto3.client(
        kind,
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name=REGION,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )


def environment_of_s3(port: int, key: str = "key", secret: str = "secret") -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": REGION,
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
    }


@pytest.fixture
def bucket(s3: int, request: pytest.FixtureRequest) -> str:
    """A bucket of the test's own."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:50].strip("-")
    where = {"LocationConstraint": REGION}
    client("s3", s3).create_bucket(Bucket=name, CreateBucketConfiguration=where)
    return name


def test_commands_meet_in_a_bucket_again_and_again(
    s3: int, bucket: str, tmp_path: pathlib.Path
) -> None:
    scene = Scene(tmp_path, f"s3://{bucket}/some/prefix", environment_of_s3(s3))
    scene.both()
    scene.both()
    names = [o["Key"] for o in client("s3", s3).list_objects_v2(Bucket=bucket)["Contents"]]
    assert all(name.startswith("some/prefix/") for name in names)
    runs = {name.split("/")[2] for name in names}
    assert {run[-4:] for run in runs} == {"0001", "0002"}


def test_python_meets_in_a_bucket(
    s3: int, bucket: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Scene(tmp_path, f"s3://{bucket}", environment_of_s3(s3)).from_python(monkeypatch)


def test_sides_take_turns_in_a_bucket(s3: int, bucket: str, tmp_path: pathlib.Path) -> None:
    scene = Scene(tmp_path, f"s3://{bucket}/x", environment_of_s3(s3))
    assert scene.taking_turns() > 2


SIZES = {"few and many": (OWN[500:510], THEIRS), "many and few": (OWN, THEIRS[:3])}


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("receives", ["shop", "club"])
def test_one_side_receives_in_a_bucket(
    s3: int, bucket: str, tmp_path: pathlib.Path, receives: str, sizes: str
) -> None:
    scene = Scene(tmp_path, f"s3://{bucket}/x", environment_of_s3(s3), receives, SIZES[sizes])
    assert scene.common == {"few and many": 10, "many and few": 3}[sizes]
    scene.both()


#: A server that speaks the protocol of S3, and whose clock is two hours behind.
SLOW_CLOCK = """
import datetime, sys
import moto.s3.models, moto.server
now = moto.s3.models.utcnow
moto.s3.models.utcnow = lambda: now() - datetime.timedelta(hours=2)
moto.server.main(sys.argv[1:])
"""


def test_runs_in_a_bucket_are_listed_and_removed(tmp_path: pathlib.Path) -> None:
    port = free_port()
    program = [sys.executable, "-c", SLOW_CLOCK]
    with started(port, *program, "-H", "127.0.0.1", "-p", str(port)):
        where = {"LocationConstraint": REGION}
        client("s3", port).create_bucket(Bucket="shared", CreateBucketConfiguration=where)
        lists_and_removes(Scene(tmp_path, "s3://shared/some/prefix", environment_of_s3(port)), port)


def lists_and_removes(scene: Scene, s3: int) -> None:
    bucket = "shared"

    def exchange(what: str, *options: str) -> str:
        done = subprocess.run(
            [
                str(COMMAND),
                "exchange",
                what,
                scene.place,
                "--agreement",
                "agreement.toml",
                *options,
            ],
            cwd=scene.folder,
            env=scene.environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stored() -> set[str]:
        listed = client("s3", s3).list_objects_v2(Bucket=bucket).get("Contents", [])
        return {o["Key"].rsplit("/", 1)[-1] for o in listed}

    assert "there are no runs" in exchange("status")
    client("s3", s3).put_object(Bucket=bucket, Key="some/other/0-hello", Body=b"")
    client("s3", s3).put_object(Bucket=bucket, Key="some/prefix/report.txt", Body=b"")
    code, error = scene.run("shop", "--once")
    assert code == 75, error
    assert "only shop has started" in exchange("status")
    scene.both()
    (run,) = json.loads(exchange("status", "--json"))["runs"]
    assert (run["number"], run["state"], run["turn"]) == (1, "finished", None)
    total = client("s3", s3).list_objects_v2(Bucket=bucket, Prefix="some/prefix/")["Contents"]
    sizes = {o["Key"].rsplit("/", 1)[-1]: o["Size"] for o in total}
    for party, side in enumerate(run["sides"]):
        objects = [size for name, size in sizes.items() if name.startswith(f"{party}-0")]
        assert side["objects"] == len(objects) > 0
        assert side["object_bytes"] == sum(objects)

    assert "2 h" in exchange("status")
    before = stored()
    exchange("clean", "--older-than", "3h")
    exchange("clean", "--older-than", "1h", "--dry-run")
    assert stored() == before
    exchange("clean", "--older-than", "1h", "--party", "shop")
    # Party 1 is the shop.
    assert stored() == {name for name in before if not name.startswith("1-") or name == "1-end"}
    exchange("clean", "--older-than", "1h")
    assert stored() == {"0-end", "1-end", "0-hello", "report.txt"}
    exchange("clean", "--older-than", "1h", "--all")
    assert stored() == {"0-hello", "report.txt"}
    assert "there are no runs" in exchange("status")


def test_a_bucket_that_is_missing_has_no_status(s3: int, tmp_path: pathlib.Path) -> None:
    environment = {**os.environ, **environment_of_s3(s3)}
    for what in (["status"], ["clean", "--older-than", "1d"]):
        words = [str(COMMAND), "exchange", what[0], "s3://no-such-bucket/x", *what[1:]]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT)
        assert done.returncode == 3 and "S3 has no such bucket" in done.stderr, done.stderr


def test_a_missing_bucket_is_named(s3: int, tmp_path: pathlib.Path) -> None:
    scene = Scene(tmp_path, "s3://no-such-bucket/x", environment_of_s3(s3))
    code, error = scene.run("shop", "--wait", "5s")
    assert code == 3 and "S3 has no such bucket" in error and "s3://no-such-bucket/x" in error


def test_urls_that_name_no_place_are_refused(tmp_path: pathlib.Path) -> None:
    scene = Scene(tmp_path, "unused", {})
    code, error = scene.run("shop", place="ftp://host/x")
    assert code == 2 and "ftp://host/x" in error
    assert all(scheme in error for scheme in ("s3://", "gs://", "az://", "sftp://"))
    code, error = scene.run("shop", place="s3://key:canary@bucket/x")
    assert code == 2 and "AWS_ACCESS_KEY_ID" in error and "canary" not in error
    options: dict[str, Any] = {"key": scene.keys["shop"], "exchange": "ftp://host/x"}
    with pytest.raises(v.SettingsError, match="unsupported store URL"):
        v.run(scene.agreement, tmp_path / "shop.csv", **options)


def test_refused_credentials_are_named(tmp_path: pathlib.Path) -> None:
    port = free_port()
    program = str(pathlib.Path(sys.executable).with_name("moto_server"))
    with started(port, program, "-H", "127.0.0.1", "-p", str(port)):
        where = {"LocationConstraint": REGION}
        client("s3", port).create_bucket(Bucket="shared", CreateBucketConfiguration=where)
        iam = client("iam", port)
        iam.create_user(UserName="shop")
        made = iam.create_access_key(UserName="shop")["AccessKey"]
        policy = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
        }
        iam.put_user_policy(UserName="shop", PolicyName="all", PolicyDocument=json.dumps(policy))
        # From now on the server looks at credentials.
        reset = f"http://127.0.0.1:{port}/moto-api/reset-auth"
        text = {"Content-Type": "text/plain"}
        urllib.request.urlopen(urllib.request.Request(reset, data=b"0", headers=text)).close()
        key, secret = made["AccessKeyId"], made["SecretAccessKey"]
        scene = Scene(tmp_path, "s3://shared/x", environment_of_s3(port, key, secret))
        code, error = scene.run("shop", "--once")
        assert code == 75, error
        for wrong in ((key, "wrong"), ("wrong", secret)):
            scene.environment.update(environment_of_s3(port, *wrong))
            code, error = scene.run("shop", "--once")
            assert code == 3 and "S3 refuses access" in error, error
            assert secret not in error


EXPIRED = """<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"""


class Guard(http.server.ThreadingHTTPServer):
    """Passes requests on to a server of S3, unless their token has expired."""

    daemon_threads = True

    def __init__(self, to: int, status: int) -> None:
        self.to, self.status = to, status
        self.expired: set[str] = set()
        super().__init__(("127.0.0.1", 0), Guarding)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class Guarding(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self) -> None:
        guard = self.server
        assert isinstance(guard, Guard)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.headers.get("X-Amz-Security-Token") in guard.expired:
            status, headers, answer = guard.status, [("Content-Type", "text/xml")], EXPIRED.encode()
        else:
            there = http.client.HTTPConnection("127.0.0.1", guard.to)
            there.request(self.command, self.path, body, dict(self.headers))
            response = there.getresponse()
            status, headers, answer = response.status, response.getheaders(), response.read()
            there.close()
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_POST = do_DELETE = handle_request

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.mark.parametrize("status", [400, 403])
def test_a_run_goes_on_after_credentials_expire(
    s3: int, bucket: str, tmp_path: pathlib.Path, status: int
) -> None:
    guard = Guard(s3, status)
    scene = Scene(tmp_path, f"s3://{bucket}/x", environment_of_s3(guard.server_port))
    scene.environment["AWS_SESSION_TOKEN"] = "old-canary"
    for name in ("shop", "club"):
        code, error = scene.run(name, "--once")
        assert code == 75, error
    # It continues, and then waits for the other side.
    shop = scene.start("shop", "--wait", "100s")
    assert shop.stderr is not None
    printed = ""
    while "waiting for" not in printed:
        line = shop.stderr.readline()
        assert line, printed
        printed += line
    guard.expired.add("old-canary")
    start = time.monotonic()
    code, error = scene.end(shop)
    assert code == 3 and f"the bucket s3://{bucket}/x cannot be used: access is refused" in error
    assert "whether they have expired" in error and "the run resumes" in error
    # It is known at once: nothing is repeated.
    assert time.monotonic() - start < 10
    code, again = scene.run("shop", "--once")
    assert code == 3 and "S3 refuses access" in again and "whether they have expired" in again
    assert "canary" not in error + again
    assert (scene.folder / "shop.state").exists()
    scene.environment["AWS_SESSION_TOKEN"] = "new"
    scene.both()
    guard.shutdown()
    guard.server_close()


class Relay(socketserver.ThreadingTCPServer):
    """Passes connections on to a port until it is closed: a network that can fail."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, to: int) -> None:
        self.to, self.open = to, set[socket.socket]()
        super().__init__(("127.0.0.1", port), Relaying)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def cut(self) -> None:
        """Ends all connections, and takes no more."""
        self.shutdown()
        self.server_close()
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Relaying(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        relay = self.server
        assert isinstance(relay, Relay)
        with socket.create_connection(("127.0.0.1", relay.to)) as there:
            relay.open |= {self.request, there}

            def copy(source: socket.socket, sink: socket.socket) -> None:
                with contextlib.suppress(OSError):
                    while data := source.recv(1 << 16):
                        sink.sendall(data)
                for end in (source, sink):
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

            other = threading.Thread(target=copy, args=(there, self.request))
            other.start()
            copy(self.request, there)
            other.join()
            relay.open -= {self.request, there}


def goes_on_after(scene: Scene, cut: Callable[[], None], back: Callable[[], None]) -> None:
    """The store is lost while a side waits. The side ends with an error, and continues when the store is back."""
    shop = scene.start("shop", "--wait", "100s")
    assert shop.stderr is not None
    printed = ""
    while "waiting for" not in printed:
        line = shop.stderr.readline()
        assert line, printed
        printed += line
    cut()
    code, error = scene.end(shop)
    assert code == 5 and "cannot be reached" in error and "the run resumes" in error
    code, error = scene.run("shop", "--once")
    assert code == 5 and "cannot be reached" in error
    assert (scene.folder / "shop.state").exists()
    back()
    code, error = scene.run("shop", "--once")
    assert code == 75, error
    scene.both()


def test_a_run_goes_on_when_the_bucket_is_back(
    s3: int, bucket: str, tmp_path: pathlib.Path
) -> None:
    port = free_port()
    relays = [Relay(port, s3)]
    scene = Scene(tmp_path, f"s3://{bucket}/x", environment_of_s3(port))
    goes_on_after(scene, lambda: relays[0].cut(), lambda: relays.append(Relay(port, s3)))
    relays[1].cut()


class Sshd:
    """A server of the current user's, with keys of its own, and the settings that `ssh` needs."""

    def __init__(self, folder: pathlib.Path) -> None:
        program = shutil.which(
            "sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
        )
        assert program, "sshd is not here: scripts/python-tests installs it"
        self.program, self.folder, self.port = program, folder, free_port()
        for name in ("host", "user", "other"):
            make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(make, check=True)
        public = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}")
        (folder / "unknown").write_text("")
        settings = f"""
            ListenAddress 127.0.0.1
            Port {self.port}
            HostKey {folder}/host
            AuthorizedKeysFile {folder}/user.pub
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            Subsystem sftp internal-sftp
        """
        (folder / "sshd_config").write_text(settings)

    def config(self, user: str = "user", known: str = "known") -> dict[str, str]:
        """The environment for `ssh` with this key and this list of hosts."""
        folder = self.folder
        settings = f"""
            Host *
                IdentityFile {folder}/{user}
                IdentitiesOnly yes
                UserKnownHostsFile {folder}/{known}
                GlobalKnownHostsFile none
                StrictHostKeyChecking yes
        """
        path = folder / f"{user}-{known}"
        path.write_text(settings)
        return {"VESICA_SSH_CONFIG": str(path)}

    def started(self) -> contextlib.AbstractContextManager[None]:
        if os.getuid() == 0:
            # As root, sshd wants the folder of its unprivileged part.
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        config = str(self.folder / "sshd_config")
        return started(self.port, self.program, "-D", "-e", "-f", config)

    def url(self, folder: pathlib.Path) -> str:
        return f"sftp://{getpass.getuser()}@127.0.0.1:{self.port}{folder}"


@pytest.fixture
def sshd(tmp_path: pathlib.Path) -> Sshd:
    (folder := tmp_path / "sshd").mkdir(mode=0o700)
    return Sshd(folder)


@pytest.fixture
def shared(tmp_path: pathlib.Path) -> pathlib.Path:
    (folder := tmp_path / "shared").mkdir()
    return folder


def test_commands_meet_over_sftp_again_and_again(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    scene = Scene(tmp_path, sshd.url(shared), sshd.config())
    with sshd.started():
        scene.both()
        scene.both()
    assert {run.name[-4:] for run in shared.iterdir()} == {"0001", "0002"}
    assert not list(shared.glob("*/.unfinished-*"))


def test_python_meets_over_sftp(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sshd.started():
        Scene(tmp_path, sshd.url(shared), sshd.config()).from_python(monkeypatch)


def test_sides_take_turns_over_sftp(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with sshd.started():
        assert Scene(tmp_path, sshd.url(shared), sshd.config()).taking_turns() > 2


def test_a_folder_and_sftp_are_the_same_place(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    scene = Scene(tmp_path, sshd.url(shared), sshd.config())
    with sshd.started():
        sides = [
            scene.start("shop", "--wait", "60s"),
            scene.start("club", "--wait", "60s", place=str(shared)),
        ]
        for code, error in map(scene.end, sides):
            assert code == 0, error
    scene.check()


def test_what_ssh_refuses_is_named(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    scene = Scene(tmp_path, sshd.url(shared), sshd.config())
    code, error = scene.run("shop", "--once")
    assert code == 5 and "cannot be reached: connection refused" in error, error
    with sshd.started():
        for settings, words in (
            (sshd.config(user="other"), "refuses the login"),
            (sshd.config(known="unknown"), "does not know the host key"),
            ({"VESICA_SSH_CONFIG": "/no/such/file"}, "ssh settings cannot be used"),
        ):
            scene.environment.update(settings)
            code, error = scene.run("shop", "--once")
            assert code == 3 and words in error, error
        scene.environment.update(sshd.config())
        code, error = scene.run("shop", "--once", place=sshd.url(shared / "missing"))
        assert code == 3 and "it does not exist" in error, error


def test_a_run_goes_on_when_the_server_is_back(
    sshd: Sshd, shared: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    port = free_port()
    relays = [Relay(port, sshd.port)]
    known = sshd.folder / "known"
    known.write_text(f"[127.0.0.1]:{port} {(sshd.folder / 'host.pub').read_text()}")
    place = f"sftp://{getpass.getuser()}@127.0.0.1:{port}{shared}"
    scene = Scene(tmp_path, place, sshd.config())
    with sshd.started():
        goes_on_after(scene, lambda: relays[0].cut(), lambda: relays.append(Relay(port, sshd.port)))
    relays[1].cut()
